"""Google's generateContent protocol."""

import re

from tests.contract.model.wire import (
    Answer,
    Asked,
    Event,
    Json,
    Message,
    Tool,
    chunks,
    dumps,
    size_of,
    spoken,
    turns_of,
)

_ERRORS = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    402: ("FAILED_PRECONDITION", "Your prepayment credits are depleted. Please go to AI Studio to manage billing."),
    403: ("PERMISSION_DENIED", "Method doesn't allow unregistered callers."),
    404: ("NOT_FOUND", "The model is not found for API version v1beta."),
    429: ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    500: ("INTERNAL", "An internal error has occurred. Please retry."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}
_TYPE = "type.googleapis.com/google.rpc."


def read(path: str, body: Json, size: int) -> Asked:
    declared = [
        function
        for tool in body.get("tools") or []
        for function in tool.get("functionDeclarations") or tool.get("function_declarations") or []
    ]
    config = body.get("generationConfig") or {}
    thinking = config.get("thinkingConfig") or {}
    model = re.search(r"models/([^:/?]+)", path)
    return Asked(
        messages=tuple(message for content in body.get("contents") or [] for message in _messages(content)),
        tools=tuple(Tool(str(function.get("name", ""))) for function in declared),
        model=model[1] if model else "",
        effort=str(thinking.get("thinkingLevel") or thinking.get("thinkingBudget") or ""),
        system=size_of(body.get("systemInstruction")),
        stream=":streamGenerateContent" in path,
        size=size,
        schema=config.get("responseJsonSchema") or config.get("responseSchema"),
    )


def _messages(content: Json) -> list[Message]:
    parts = [part for part in content.get("parts") or [] if isinstance(part, dict)]
    text = "\n".join(spoken(str(part["text"])) for part in parts if part.get("text") and not part.get("thought"))
    if content.get("role") == "model":
        ids = [str((part.get("functionCall") or {}).get("id")) for part in parts]
        return [Message("assistant", text, turns_of(ids))]
    results = [part["functionResponse"] for part in parts if part.get("functionResponse")]
    found = [Message("tool", dumps(result.get("response"))) for result in results]
    said = spoken(text)
    return found + [Message("user", said)] if said else found


def write(asked: Asked, answer: Answer) -> Json:
    return _part(asked, answer, _parts(answer), last=True)


def events(asked: Asked, answer: Answer) -> list[Event]:
    pieces: list[Json] = [{"text": piece} for piece in chunks(answer.say)]
    pieces += [part for part in _parts(answer) if "functionCall" in part]
    pieces = pieces or [{"text": ""}]
    last = len(pieces) - 1
    return [("", _part(asked, answer, [piece], last=number == last)) for number, piece in enumerate(pieces)]


def _part(asked: Asked, answer: Answer, parts: list[Json], last: bool) -> Json:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **({"finishReason": "STOP"} if last else {})}
    usage = {
        "promptTokenCount": answer.tokens_in,
        "candidatesTokenCount": answer.tokens_out,
        "totalTokenCount": answer.tokens_in + answer.tokens_out,
        "cachedContentTokenCount": answer.cached,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": asked.model,
        "responseId": f"gen{asked.size}",
    }


def _parts(answer: Answer) -> list[Json]:
    said: list[Json] = [{"text": answer.say}] if answer.say or not answer.calls else []
    return said + [
        {"functionCall": {"id": call.id, "name": call.tool.full, "args": call.args}} for call in answer.calls
    ]


def error(status: int, quota: bool, wait: float) -> tuple[int, Json]:
    word, message = _ERRORS.get(status, ("INTERNAL", "An internal error has occurred."))
    details: list[Json] = []
    if quota:
        status, word = 429, "RESOURCE_EXHAUSTED"
        message = "You exceeded your current quota, please check your plan and billing details."
        violation = {
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
            "quotaValue": "50",
        }
        details.append({"@type": f"{_TYPE}QuotaFailure", "violations": [violation]})
    elif status == 429 and wait:
        details.append({"@type": f"{_TYPE}RetryInfo", "retryDelay": f"{wait:g}s"})
    return status, {"error": {"code": status, "message": message, "status": word, "details": details}}
