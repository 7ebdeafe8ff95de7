"""How OpenAI-compatible servers differ: what each rejects and ignores, and its answers for
`tests/model_server.py`.

None was recorded from a live server. Beside each answer is its source: a report that quotes it, the
server's own source code, or its documentation. "Pieced together" marks answers without a source:
the sentence is known from use or hearsay, and the fields are those of the server's other errors. A
plain 401, 429 or 503, which is recognised by its status, is here for a few servers only.
"""

import json
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

    name: str
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
            for option in rejected:
                if option in request:
                    return self.rejections[option]
            return GOOD

        return reply

    def __str__(self) -> str:
        return self.name


def error(status: int, headers: Mapping[str, str] | None = None, /, **fields: Any) -> Failure:
    """An error as most servers send it: `fields` within `error`."""
    return Failure(status, body={"error": fields}, headers=headers or {})


def _openai(
    status: int, message: str, *, kind: str = "invalid_request_error", **fields: Any
) -> Failure:
    return error(
        status, **{"message": message, "type": kind, "param": None, "code": None, **fields}
    )


OPENAI = Profile(
    name="OpenAI",
    rejections={
        # https://github.com/gabrii/Cursor-Azure-GPT-5/issues/33
        "temperature": _openai(
            400,
            "Unsupported value: 'temperature' does not support 0 with this model. Only the "
            "default (1) value is supported.",
            param="temperature",
            code="unsupported_value",
        ),
        # https://github.com/langchain-ai/langchain/issues/29947
        "max_tokens": _openai(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        ),
        # Pieced together: o1-mini and the search models do not accept n
        # (https://github.com/danny-avila/LibreChat/issues/10737)
        "n": _openai(
            400,
            (
                "Unsupported value: 'n' does not support 3 with this model. Only the default "
                "(1) value is supported."
            ),
            param="n",
            code="unsupported_value",
        ),
        # The sentence and the 403 are in helm and lighteval; the null param and code are pieced
        # together
        "logprobs": _openai(403, "You are not allowed to request logprobs from this model"),
    },
    # https://github.com/vierisid/jarvis/pull/241
    unknown_model=_openai(
        404,
        f"The model `{MODEL}` does not exist or you do not have access to it.",
        code="model_not_found",
    ),
    # Pieced together from https://platform.openai.com/docs/guides/error-codes
    wrong_key=_openai(
        401,
        (
            f"Incorrect API key provided: {KEY}. You can find your API key at "
            "https://platform.openai.com/account/api-keys."
        ),
        code="invalid_api_key",
    ),
    # https://github.com/The-Vibe-Company/quivr/issues/505
    too_long=_openai(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted "
        "in 200000 tokens. Please reduce the length of the messages.",
        param="messages",
        code="context_length_exceeded",
    ),
    # Pieced together from https://platform.openai.com/docs/guides/rate-limits
    rate_limited=error(
        429,
        {"retry-after": "0", "retry-after-ms": "1", "x-ratelimit-remaining-tokens": "0"},
        message="Rate limit reached for some-model in organization org-x on tokens per min (TPM): "
        "Limit 30000, "
        "Used 29000, Requested 2000. Please try again in 2s.",
        type="tokens",
        param=None,
        code="rate_limit_exceeded",
    ),
    # Pieced together from https://platform.openai.com/docs/guides/error-codes
    out_of_quota=_openai(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        kind="insufficient_quota",
        code="insufficient_quota",
    ),
    # The error code of the guard on reasoning models; pieced together
    filtered=_openai(
        400,
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        code="invalid_prompt",
    ),
    # From models with a small output limit; pieced together
    limit_too_high=_openai(
        400,
        (
            "max_tokens is too large: 8192. This model supports at most 4096 completion "
            "tokens, whereas you provided 8192."
        ),
        param="max_tokens",
    ),
)

AZURE = Profile(
    name="Azure OpenAI",
    rejections={
        # https://github.com/owndev/Open-WebUI-Functions/issues/98
        "temperature": OPENAI.rejections["temperature"],
        # https://github.com/openai/openai-python/issues/1724
        "max_completion_tokens": _openai(
            400, "Unrecognized request argument supplied: max_completion_tokens"
        ),
    },
    # Pieced together
    unknown_model=error(
        404,
        code="DeploymentNotFound",
        message="The API deployment for this resource does not exist. If you created the "
        "deployment within the last "
        "5 minutes, please wait a moment and try again.",
    ),
    # https://github.com/SciSharp/BotSharp/issues/386; the gateway before it sends {"statusCode":
    # 401, "message": ...}
    wrong_key=Failure(
        401,
        body={
            "statusCode": 401,
            "message": (
                "Unauthorized. Access token is missing, invalid, audience is incorrect or have "
                "expired."
            ),
        },
    ),
    # https://github.com/openai/openai-dotnet/issues/55
    filtered=error(
        400,
        message=(
            "The response was filtered due to the prompt triggering Azure OpenAI's content "
            "management policy."
        ),
        type=None,
        param="prompt",
        code="content_filter",
        status=400,
        innererror={
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"violence": {"filtered": True, "severity": "medium"}},
        },
    ),
)


def _vllm(
    status: int, message: str, *, kind: str = "BadRequestError", param: str | None = None
) -> Failure:
    return Failure(
        status,
        body={"object": "error", "message": message, "type": kind, "param": param, "code": status},
    )


VLLM = Profile(
    name="vLLM",
    rejections={
        # https://github.com/vllm-project/vllm/pull/9167
        "n": _vllm(400, "n must be 1 when using greedy sampling, got 3."),
        # https://github.com/EleutherAI/lm-evaluation-harness/issues/1735 and
        # vllm/sampling_params.py
        "logprobs": _vllm(
            400, "Requested sample logprobs of 20, which is greater than max allowed: 5"
        ),
        # https://github.com/voideditor/void/issues/128
        "max_completion_tokens": _vllm(
            400,
            "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': "
            "'Extra inputs are not permitted', 'input': 8192}]",
        ),
        # FastAPI's own 422, from servers built like vLLM; pieced together
        "temperature": Failure(
            422,
            body={
                "detail": [
                    {
                        "type": "less_than_equal",
                        "loc": ["body", "temperature"],
                        "msg": "Input should be greater than 0",
                        "input": 0,
                    }
                ]
            },
        ),
    },
    unknown_model=_vllm(404, f"The model `{MODEL}` does not exist.", kind="NotFoundError"),
    # Pieced together from vllm/entrypoints/openai/api_server.py: the error is a bare string
    wrong_key=Failure(401, body={"error": "Unauthorized"}),
    # https://github.com/vllm-project/vllm/issues/33418
    too_long=_vllm(
        400,
        "This model's maximum context length is 4096 tokens. However, your request has 5000 "
        "input tokens. Please reduce the length of the input messages.",
    ),
    # https://github.com/ogx-ai/ogx/issues/4534
    limit_too_high=_vllm(
        400,
        "This model's maximum context length is 4096 tokens. However, you requested 8760 tokens "
        "(568 in the messages, 8192 in the completion). Please reduce the length of the messages "
        "or completion.",
    ),
    overloaded=Failure(500, body={"detail": "Internal Server Error"}),
)

VLLM_NESTED = Profile(
    name="vLLM, newer",
    # Since about 0.10 the same fields are within `error`; code is still a number. Pieced together.
    unknown_model=error(
        404,
        message=f"The model `{MODEL}` does not exist.",
        type="NotFoundError",
        param="model",
        code=404,
    ),
    # https://github.com/vllm-project/vllm/issues/19861
    limit_too_high=error(
        400,
        message="'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum "
        "context length is "
        "4096 tokens and your request has 561 input tokens (8192 > 4096 - 561).",
        type="BadRequestError",
        param=None,
        code=400,
    ),
    too_long=error(
        400,
        message=(
            "This model's maximum context length is 4096 tokens. However, your prompt contains "
            "5000 input tokens."
        ),
        type="BadRequestError",
        param="input_text",
        code=400,
    ),
)

OLLAMA = Profile(
    name="Ollama",
    # openai/openai.go at ollama/ollama ignores n and max_completion_tokens (ollama#7125), and
    # truncates a too long prompt without saying so; it gives log probabilities since 0.12.11.
    unknown_model=error(
        404, message=f"model '{MODEL}' not found", type="not_found_error", param=None, code=None
    ),
)


def _llama_cpp(
    status: int, message: str, kind: str = "invalid_request_error", **fields: Any
) -> Failure:
    return error(status, code=status, message=message, type=kind, **fields)


LLAMA_CPP = Profile(
    name="llama.cpp",
    rejections={
        # examples/server/utils.hpp at ggml-org/llama.cpp, up to 2025; a runtime_error, and so a 500
        "n": _llama_cpp(500, "Only one completion choice is allowed", "server_error"),
        # The same place: logprobs together with tools or a stream; pieced together for a plain
        # request
        "logprobs": _llama_cpp(400, "logprobs is not supported with this configuration"),
    },
    # It serves the model that it was started with, under any name; a router gives this answer.
    # Pieced together.
    unknown_model=_llama_cpp(404, f"model '{MODEL}' not found", "not_found_error"),
    # https://github.com/ggml-org/llama.cpp/pull/15780,
    # https://github.com/oobabooga/textgen/issues/7257
    too_long=_llama_cpp(
        400,
        (
            "the request exceeds the available context size. try increasing the context size "
            "or enable context shift"
        ),
        "exceed_context_size_error",
        n_prompt_tokens=14429,
        n_ctx=8192,
    ),
    overloaded=_llama_cpp(503, "Loading model", "unavailable_error"),
)


def _litellm(status: int, message: str, kind: str | None = None) -> Failure:
    return error(status, message=message, type=kind, param=None, code=str(status))


LITELLM = Profile(
    name="LiteLLM",
    rejections={
        # https://github.com/BerriAI/litellm/issues/5884
        "temperature": _litellm(
            400,
            "litellm.UnsupportedParamsError: openai does not support parameters: "
            "['temperature'], for model=o1-mini. To drop these, set `litellm.drop_params=True` "
            "or for proxy: `litellm_settings: drop_params: true`",
        ),
        "n": _litellm(
            400,
            (
                "litellm.UnsupportedParamsError: bedrock does not support parameters: ['n'], "
                "for model=claude."
            ),
        ),
        # https://github.com/BerriAI/litellm/issues/16090: another server's error as text within the
        # message
        "logprobs": _litellm(
            400,
            "litellm.BadRequestError: OpenAIException - "
            + json.dumps(
                {
                    "error": {
                        "message": (
                            "Unsupported parameter: 'logprobs' is not supported with this model."
                        )
                    }
                }
            )
            + ". Received Model Group=o1-mini\nAvailable Model Group Fallbacks=None",
        ),
        # https://github.com/BerriAI/litellm/issues/8638
        "max_completion_tokens": _litellm(
            400,
            "litellm.BadRequestError: AzureException BadRequestError - Error code: 400 - "
            "{'error': {'message': "
            "'Unrecognized request argument supplied: max_completion_tokens', 'param': "
            "None, 'code': None}}",
        ),
    },
    # https://github.com/BerriAI/litellm/pull/3142
    unknown_model=_litellm(
        400,
        f"400: {{'error': '/chat/completions: Invalid model name passed in model={MODEL}. Call "
        "`/v1/models` to view available models for your key.'}",
        "None",
    ),
    too_long=_litellm(
        400,
        "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - This "
        "model's maximum context length is 128000 tokens. However, your messages resulted in "
        "200000 tokens.",
    ),
    # https://github.com/BerriAI/litellm/issues/14144
    out_of_quota=_litellm(
        400, "Budget has been exceeded! Current cost: 26.075, Max budget: 0.25", "budget_exceeded"
    ),
    # https://github.com/BerriAI/litellm/pull/16231
    filtered=_litellm(
        400,
        "litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - The "
        "response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy.\nmodel=azure/gpt-4o. content_policy_fallback=None. fallbacks=None.",
    ),
)

LITELLM_ALONE = Profile(
    name="LiteLLM without a database",
    unknown_model=LITELLM.unknown_model,
    # Any key but the master key: https://github.com/BerriAI/litellm/issues/12273
    wrong_key=_litellm(400, "No connected db.", "no_db_connection"),
)

OPENROUTER = Profile(
    name="OpenRouter",
    rejections={
        # https://github.com/BerriAI/litellm/issues/10957
        "temperature": error(
            400,
            message="Provider returned error",
            code=400,
            metadata={
                "raw": '{"error": {"message": "Unsupported parameter: \'temperature\' is not '
                "supported with this "
                'model.", "param": "temperature"}}',
                "provider_name": "OpenAI",
            },
        )
    },
    # https://github.com/maxnowack/anthropic-proxy/issues/4
    unknown_model=error(400, message=f"{MODEL} is not a valid model ID", code=400),
    # https://github.com/UKGovernmentBEIS/inspect_ai/issues/1534
    rate_limited=Raw(
        '{"id": null, "choices": null, "usage": null, "error": {"message": "Provider '
        'returned error", "code": 429, '
        '"metadata": {"raw": "Too Many Requests", "provider_name": "Hyperbolic"}}}',
        headers={"retry-after": "0"},
    ),
    # Statuses in https://openrouter.ai/docs/api/reference/errors-and-debugging, the sentences are
    # pieced together
    out_of_quota=error(
        402, message="Insufficient credits. Add more using https://openrouter.ai/credits", code=402
    ),
    filtered=error(
        403,
        message=f'{MODEL} requires moderation on OpenAI. Your input was flagged for "violence".',
        code=403,
    ),
    # The error of a choice that broke off; the same page
    overloaded=Raw(
        '{"choices": [{"finish_reason": "error", "message": {"content": ""}, '
        '"error": {"code": 502, "message": "Upstream error"}}]}',
        headers={"retry-after": "0"},
    ),
)


def _gemini(status: int, message: str, name: str) -> Failure:
    return Failure(status, body=[{"error": {"code": status, "message": message, "status": name}}])


GEMINI = Profile(
    name="Gemini",
    # A list: https://github.com/googleapis/google-api-python-client/issues/2570
    rejections={
        # https://github.com/mscraftsman/generative-ai/issues/135
        "logprobs": _gemini(
            400, "Logprobs is not enabled for models/gemini-2.5-pro", "INVALID_ARGUMENT"
        ),
        # https://github.com/bytedance/deer-flow/issues/1515
        "max_completion_tokens": _gemini(
            400,
            (
                'Invalid JSON payload received. Unknown name "max_completion_tokens": Cannot '
                "find field."
            ),
            "INVALID_ARGUMENT",
        ),
    },
    unknown_model=_gemini(404, f"models/{MODEL} is not found for API version v1main.", "NOT_FOUND"),
    wrong_key=_gemini(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
    too_long=_gemini(
        400,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "INVALID_ARGUMENT",
    ),
)


def _mistral(option: str) -> Failure:
    detail = [
        {
            "type": "extra_forbidden",
            "loc": ["body", option],
            "msg": "Extra inputs are not permitted",
        }
    ]
    fields = {"type": "invalid_request_error", "param": None, "code": None}
    return Failure(422, body={"object": "error", "message": {"detail": detail}, **fields})


MISTRAL = Profile(
    name="Mistral",
    # https://github.com/editor-code-assistant/eca/issues/231: the message is an object
    rejections={
        option: _mistral(option)
        for option in ("max_completion_tokens", "logprobs", "top_logprobs", "n")
    },
    # Codes and sentences are pieced together
    unknown_model=Failure(
        400,
        body={
            "object": "error",
            "message": f"Invalid model: {MODEL}",
            "type": "invalid_model",
            "code": "1500",
        },
    ),
    too_long=Failure(
        400,
        body={
            "object": "error",
            "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with "
            "32768 maximum "
            "context length",
            "type": "invalid_request_prompt",
            "param": None,
            "code": "3051",
        },
    ),
    rate_limited=Failure(
        429, headers={"retry-after": "0"}, body={"message": "Requests rate limit exceeded"}
    ),
)

ANTHROPIC = Profile(
    name="Anthropic",
    rejections={
        # n must be exactly 1, logprobs are ignored:
        # https://platform.claude.com/docs/en/api/openai-sdk; pieced together
        "n": error(
            400,
            code="invalid_request_error",
            message="n: must be 1",
            type="invalid_request_error",
            param=None,
        )
    },
    unknown_model=error(
        404, code="not_found_error", message=f"model: {MODEL}", type="not_found_error"
    ),
    out_of_quota=error(
        400,
        message="Your credit balance is too low to access the Anthropic API. Please go to Plans & "
        "Billing to upgrade "
        "or purchase credits.",
        type="invalid_request_error",
    ),
    too_long=error(
        400,
        message="prompt is too long: 210000 tokens > 200000 maximum",
        type="invalid_request_error",
    ),
    limit_too_high=error(
        400,
        message="input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, "
        "decrease input length or "
        "`max_tokens` and try again",
        type="invalid_request_error",
    ),
)

TGI = Profile(
    name="Text Generation Inference",
    # https://huggingface.co/docs/text-generation-inference: a string beside `error_type`; unknown
    # options are ignored
    unknown_model=Failure(404, body={"error": "Model not found", "error_type": "not_found"}),
    limit_too_high=Failure(
        422,
        body={
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. "
            "Given: 561 `inputs` "
            "tokens and 8192 `max_new_tokens`",
            "error_type": "validation",
        },
    ),
    overloaded=Failure(429, body={"error": "Model is overloaded", "error_type": "overloaded"}),
)

PROFILES = (
    OPENAI,
    AZURE,
    VLLM,
    VLLM_NESTED,
    OLLAMA,
    LLAMA_CPP,
    LITELLM,
    LITELLM_ALONE,
    OPENROUTER,
    GEMINI,
    MISTRAL,
    ANTHROPIC,
    TGI,
)
