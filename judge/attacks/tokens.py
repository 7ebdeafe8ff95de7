"""Special tokens: the words by which chat templates tell a model whose turn it is, as patterns for folded text.

Servers put the prompt into their model's template, and most read such a word in it as the token itself, wherever it
stands: llama.cpp does (https://github.com/ggml-org/llama.cpp/issues/24382), and so does vLLM
(https://github.com/vllm-project/vllm/pull/31735). A response could end the user's turn and speak as the system.

Most families need no list: a bar inside an angle bracket is one (ChatML, Llama 3 and 4, Phi, Qwen, GLM, Command R,
Granite, Kimi, gpt-oss's harmony; `<|turn>` and `<turn|>` of Gemma 4; DeepSeek with its own bars), so is
`start_of_...` (Gemma, SmolVLM) and `seed:...` (Seed-OSS). The others are named, since `[TODO]`, `buf[MAX_SIZE]` and
`<access_token>` are everyday text. Sources: the templates in
https://github.com/ggml-org/llama.cpp/blob/master/src/llama-chat.cpp, https://cookbook.openai.com/articles/openai-harmony
and, for Mistral, https://docs.mistral.ai/cookbooks/concept-deep-dive-tokenization-chat_templates.

Each pattern is for what stands behind the opening bracket; case does not matter where it is not said to.
"""

_BARRED = r"\|/?▁?[^\W\d][\w▁.:/-]{1,63}\|?>|[^\W\d][\w▁]{1,63}\|>"
_TURNS = r"/?(?:start|begin|end)_of_[a-z]\w{0,31}>|</?sys>>|/?seed:[a-z_]{2,31}>"
_MISTRAL = r"/?(?:inst|system_prompt|available_tools|tool_(?:calls|results|content)|model_settings|gmask)\]"
_EXAONE = r"\|(?:system|user|assistant|tool|endofturn)\|\]"

CONTROL = {"<": f"{_BARRED}|{_TURNS}", "[": f"{_MISTRAL}|{_EXAONE}"}
"""Words that stand in hardly any text but a chat template; a response that holds one is flagged."""

EVERYDAY = {
    "<": r"/?s>|(?:bos|eos|eot|eom|pad|unk|sop|eop)(?:_token)?>|/?(?:think|tools?|tool_(?:call|response)s?)>"
    r"|fim_[a-z]{2,16}>|(?:extra_id_|unused_?|reserved_|special_)\d{1,5}>",
    "[": r"/?(?-i:THINK|BOS|EOS|EOT|UNUSED_TOKEN_\d{1,5})\]",
}
"""Tokens that are something else elsewhere (`<s>` strikes a word through in HTML): broken up, and not flagged."""
