"""The function's name, inputs and outputs, as in manifest_parts.yml."""

FUNCTION_SCORE_REPLY = "score_reply"

INPUT_USER = "user_id"
INPUT_MESSAGE = "message"
INPUT_LINK = "link"
INPUT_QUESTION = "question"
INPUT_RESPONSE = "response"

OUTPUT_SCORED = "scored"
OUTPUT_SCORE = "score"
OUTPUT_JUSTIFICATION = "justification"
OUTPUT_REASON = "reason"
OUTPUT_LINK = "verdict_link"
