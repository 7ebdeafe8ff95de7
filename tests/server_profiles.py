"""How OpenAI-compatible servers differ: what each rejects, and its answers for
`tests/model_server.py`.

None was recorded from a live server. Beside each answer is its source: a report that quotes it, the
server's own source code, or its documentation; long sentences are quoted in part. "Pieced together"
marks answers without a source: the sentence is known from use or hearsay, and the fields are those
of the server's other errors. A plain 401, 429 or 503, which is recognised by its status, is here
for a few servers only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.model_server import Failure, Raw, Reply, Script

GOOD = "score: 4\nIt answers the question."
MODEL = "some-model"
KEY = "sk-very-secret"


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One server.

    Attributes:
        rejections: By the name of a request's option, the answer of a model that does not accept
            it.
        limit_too_high: The answer if the prompt fits the context, but not together with the limit
            on the answer.
    """

    unknown_model: Failure
    wrong_key: Failure | None = None
    too_long: Failure | None = None
    rate_limited: Failure | Raw | None = None
    out_of_quota: Failure | None = None
    filtered: Failure | None = None
    overloaded: Failure | Raw | None = None
    limit_too_high: Failure | None = None
    rejections: Mapping[str, Failure] = field(default_factory=dict)

    def script(self, *rejected: str) -> Script:
        """Answers with a good verdict, but rejects requests with one of the options `rejected`."""

        def reply(request: dict[str, Any]) -> Reply:
            return next((self.rejections[name] for name in rejected if name in request), GOOD)

        return reply


def error(status: int, message: str, /, **fields: Any) -> Failure:
    """An error as most servers send it: within `error`."""
    return Failure(status, body={"error": {"message": message, **fields}})


def plain(status: int, /, **fields: Any) -> Failure:
    return Failure(status, body=fields)


NOT_FOUND = f"The model `{MODEL}` does not exist or you do not have access to it."
TOO_LONG = "This model's maximum context length is 4096 tokens. However, "
OTHER_LIMIT = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

OPENAI = Profile(
    rejections={
        # https://github.com/gabrii/Cursor-Azure-GPT-5/issues/33
        "temperature": error(
            400, "Unsupported value: 'temperature' does not support 0", code="unsupported_value"
        ),
        # https://github.com/langchain-ai/langchain/issues/29947
        "max_tokens": error(400, f"Unsupported parameter: {OTHER_LIMIT}", param="max_tokens"),
        # Pieced together: o1-mini and the search models do not accept n
        # (https://github.com/danny-avila/LibreChat/issues/10737)
        "n": error(400, "Unsupported value: 'n' does not support 3 with this model.", param="n"),
        # The sentence and the 403 are in helm and lighteval
        "logprobs": error(403, "You are not allowed to request logprobs from this model"),
    },
    # https://github.com/vierisid/jarvis/pull/241
    unknown_model=error(404, NOT_FOUND, code="model_not_found"),
    # Pieced together from https://platform.openai.com/docs/guides/error-codes
    wrong_key=error(401, f"Incorrect API key provided: {KEY}.", code="invalid_api_key"),
    # https://github.com/The-Vibe-Company/quivr/issues/505
    too_long=error(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in "
        "200000 tokens. Please reduce the length of the messages.",
        param="messages",
        code="context_length_exceeded",
    ),
    # Pieced together from https://platform.openai.com/docs/guides/rate-limits
    rate_limited=Failure(
        429,
        headers={"retry-after": "0", "retry-after-ms": "1", "x-ratelimit-remaining-tokens": "0"},
        message="Rate limit reached for some-model in organization org-x on tokens per min (TPM): "
        "Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
        code="rate_limit_exceeded",
    ),
    # Pieced together from https://platform.openai.com/docs/guides/error-codes
    out_of_quota=error(429, "You exceeded your current quota.", code="insufficient_quota"),
    # The error code of the guard on reasoning models; pieced together
    filtered=error(400, "Invalid prompt: your prompt was flagged.", code="invalid_prompt"),
    # From models with a small output limit; pieced together
    limit_too_high=error(
        400,
        "max_tokens is too large: 8192. This model supports at most 4096 completion tokens.",
        param="max_tokens",
    ),
)

AZURE = Profile(
    rejections={
        # https://github.com/owndev/Open-WebUI-Functions/issues/98
        "temperature": OPENAI.rejections["temperature"],
        # https://github.com/openai/openai-python/issues/1724
        "max_completion_tokens": error(
            400, "Unrecognized request argument supplied: max_completion_tokens"
        ),
    },
    # Pieced together
    unknown_model=error(
        404, "The API deployment for this resource does not exist.", code="DeploymentNotFound"
    ),
    # https://github.com/SciSharp/BotSharp/issues/386
    wrong_key=plain(401, statusCode=401, message="Unauthorized. Access token is missing."),
    # https://github.com/openai/openai-dotnet/issues/55
    filtered=error(
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy.",
        param="prompt",
        code="content_filter",
        innererror={"code": "ResponsibleAIPolicyViolation"},
    ),
)


def _vllm(status: int, message: str) -> Failure:
    return plain(status, object="error", message=message, type="BadRequestError", code=status)


VLLM = Profile(
    rejections={
        # https://github.com/vllm-project/vllm/pull/9167
        "n": _vllm(400, "n must be 1 when using greedy sampling, got 3."),
        # https://github.com/EleutherAI/lm-evaluation-harness/issues/1735
        "logprobs": _vllm(400, "Requested sample logprobs of 20, which is greater than max: 5"),
        # https://github.com/voideditor/void/issues/128
        "max_completion_tokens": _vllm(
            400,
            "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': "
            "'Extra inputs are not permitted', 'input': 8192}]",
        ),
        # FastAPI's own 422, from servers built like vLLM; pieced together
        "temperature": plain(
            422, detail=[{"loc": ["body", "temperature"], "msg": "Input should be greater than 0"}]
        ),
    },
    unknown_model=_vllm(404, f"The model `{MODEL}` does not exist."),
    # Pieced together from vllm/entrypoints/openai/api_server.py: the error is a bare string
    wrong_key=plain(401, error="Unauthorized"),
    # https://github.com/vllm-project/vllm/issues/33418
    too_long=_vllm(400, f"{TOO_LONG}your request has 5000 input tokens."),
    # https://github.com/ogx-ai/ogx/issues/4534
    limit_too_high=_vllm(
        400, f"{TOO_LONG}you requested 8760 tokens (568 in the messages, 8192 in the completion)."
    ),
    overloaded=plain(500, detail="Internal Server Error"),
)

# Since about 0.10 the same fields are within `error`; code is still a number. Pieced together.
VLLM_NESTED = Profile(
    unknown_model=error(404, f"The model `{MODEL}` does not exist.", param="model", code=404),
    # https://github.com/vllm-project/vllm/issues/19861
    limit_too_high=error(
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context "
        "length is 4096 tokens and your request has 561 input tokens (8192 > 4096 - 561).",
        code=400,
    ),
    too_long=error(400, f"{TOO_LONG}your prompt contains 5000 input tokens.", param="input_text"),
)

# openai/openai.go at ollama/ollama ignores n and max_completion_tokens (ollama#7125), and truncates
# a too long prompt without saying so; it gives log probabilities since 0.12.11.
OLLAMA = Profile(unknown_model=error(404, f"model '{MODEL}' not found", type="not_found_error"))

LLAMA_CPP = Profile(
    rejections={
        # examples/server/utils.hpp at ggml-org/llama.cpp, up to 2025; a runtime_error, and so a 500
        "n": error(500, "Only one completion choice is allowed", code=500, type="server_error"),
        # The same place: logprobs together with tools or a stream; pieced together for a plain
        # request
        "logprobs": error(400, "logprobs is not supported with this configuration", code=400),
    },
    # It serves the model that it was started with, under any name; a router gives this answer.
    # Pieced together.
    unknown_model=error(404, f"model '{MODEL}' not found", code=404, type="not_found_error"),
    # https://github.com/ggml-org/llama.cpp/pull/15780,
    # https://github.com/oobabooga/textgen/issues/7257
    too_long=error(
        400, "the request exceeds the available context size. try increasing it", code=400
    ),
    overloaded=error(503, "Loading model", code=503, type="unavailable_error"),
)

LITELLM = Profile(
    rejections={
        # https://github.com/BerriAI/litellm/issues/5884
        "temperature": error(
            400,
            "litellm.UnsupportedParamsError: openai does not support parameters: ['temperature'], "
            "for model=o1-mini. To drop these, set `litellm.drop_params=True`",
        ),
        "n": error(400, "bedrock does not support parameters: ['n'], for model=claude."),
        # https://github.com/BerriAI/litellm/issues/16090: another server's error as text within the
        # message
        "logprobs": error(
            400,
            'litellm.BadRequestError: OpenAIException - {"error": {"message": "Unsupported '
            "parameter: 'logprobs' is not supported with this model.\"}}. Received Model "
            "Group=o1-mini\nAvailable Model Group Fallbacks=None",
        ),
        # https://github.com/BerriAI/litellm/issues/8638
        "max_completion_tokens": error(
            400,
            "litellm.BadRequestError: AzureException BadRequestError - Error code: 400 - {'error': "
            "{'message': 'Unrecognized request argument supplied: max_completion_tokens'}}",
        ),
    },
    # https://github.com/BerriAI/litellm/pull/3142
    unknown_model=error(
        400,
        f"400: {{'error': '/chat/completions: Invalid model name passed in model={MODEL}. Call "
        "`/v1/models` to view available models for your key.'}",
    ),
    too_long=error(400, f"litellm.ContextWindowExceededError: {TOO_LONG}it has more."),
    # https://github.com/BerriAI/litellm/issues/14144
    out_of_quota=error(
        400, "Budget has been exceeded! Current cost: 26.075, Max budget: 0.25", code="400"
    ),
    # https://github.com/BerriAI/litellm/pull/16231
    filtered=error(
        400,
        "litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - The "
        "response was filtered.\nmodel=azure/gpt-4o. content_policy_fallback=None. fallbacks=None.",
    ),
)

LITELLM_ALONE = Profile(
    unknown_model=LITELLM.unknown_model,
    # Any key but the master key: https://github.com/BerriAI/litellm/issues/12273
    wrong_key=error(400, "No connected db.", type="no_db_connection"),
)

OPENROUTER = Profile(
    rejections={
        # https://github.com/BerriAI/litellm/issues/10957
        "temperature": error(
            400,
            "Provider returned error",
            code=400,
            metadata={"raw": '{"error": {"message": "Unsupported parameter: \'temperature\'"}}'},
        )
    },
    # https://github.com/maxnowack/anthropic-proxy/issues/4
    unknown_model=error(400, f"{MODEL} is not a valid model ID", code=400),
    # https://github.com/UKGovernmentBEIS/inspect_ai/issues/1534
    rate_limited=Raw(
        '{"choices": null, "error": {"message": "Provider returned error", "code": 429, '
        '"metadata": {"raw": "Too Many Requests", "provider_name": "Hyperbolic"}}}'
    ),
    # Statuses in https://openrouter.ai/docs/api/reference/errors-and-debugging, the sentences are
    # pieced together
    out_of_quota=error(402, "Insufficient credits. Add more.", code=402),
    filtered=error(403, f'{MODEL} requires moderation. Your input was flagged for "violence".'),
    # The error of a choice that broke off; the same page
    overloaded=Raw(
        '{"choices": [{"finish_reason": "error", "message": {"content": ""}, '
        '"error": {"code": 502, "message": "Upstream error"}}]}'
    ),
)


def _gemini(status: int, message: str) -> Failure:
    return Failure(status, body=[{"error": {"code": status, "message": message}}])


# A list: https://github.com/googleapis/google-api-python-client/issues/2570
GEMINI = Profile(
    rejections={
        # https://github.com/mscraftsman/generative-ai/issues/135
        "logprobs": _gemini(400, "Logprobs is not enabled for models/gemini-2.5-pro"),
        # https://github.com/bytedance/deer-flow/issues/1515
        "max_completion_tokens": _gemini(
            400, 'Invalid JSON payload received. Unknown name "max_completion_tokens".'
        ),
    },
    unknown_model=_gemini(404, f"models/{MODEL} is not found for API version v1main."),
    wrong_key=_gemini(400, "API key not valid. Please pass a valid API key."),
    too_long=_gemini(
        400, "The input token count (1200000) exceeds the maximum number of tokens allowed."
    ),
)


def _mistral(option: str) -> Failure:
    detail = [{"loc": ["body", option], "msg": "Extra inputs are not permitted"}]
    return plain(422, object="error", message={"detail": detail}, type="invalid_request_error")


MISTRAL = Profile(
    # https://github.com/editor-code-assistant/eca/issues/231: the message is an object
    rejections={
        option: _mistral(option)
        for option in ("max_completion_tokens", "logprobs", "top_logprobs", "n")
    },
    # Codes and sentences are pieced together
    unknown_model=plain(400, message=f"Invalid model: {MODEL}", type="invalid_model", code="1500"),
    too_long=plain(
        400,
        message="Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 "
        "maximum context length",
        code="3051",
    ),
    rate_limited=plain(429, message="Requests rate limit exceeded"),
)

ANTHROPIC = Profile(
    # n must be exactly 1, logprobs are ignored:
    # https://platform.claude.com/docs/en/api/openai-sdk; pieced together
    rejections={"n": error(400, "n: must be 1", code="invalid_request_error")},
    unknown_model=error(404, f"model: {MODEL}", code="not_found_error"),
    out_of_quota=error(400, "Your credit balance is too low to access the Anthropic API."),
    too_long=error(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    limit_too_high=error(
        400, "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000"
    ),
)

TGI = Profile(
    # https://huggingface.co/docs/text-generation-inference: a string beside `error_type`; unknown
    # options are ignored
    unknown_model=plain(404, error="Model not found", error_type="not_found"),
    limit_too_high=plain(
        422,
        error="Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: "
        "561 `inputs` tokens and 8192 `max_new_tokens`",
        error_type="validation",
    ),
    overloaded=plain(429, error="Model is overloaded", error_type="overloaded"),
)

PROFILES = (
    *(OPENAI, AZURE, VLLM, VLLM_NESTED, OLLAMA, LLAMA_CPP, LITELLM, LITELLM_ALONE, OPENROUTER),
    *(GEMINI, MISTRAL, ANTHROPIC, TGI),
)
