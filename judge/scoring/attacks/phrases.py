"""Phrases that texts address to a judge, as data: requests for a score, and orders; openers are in
openers.txt.

All of it is for folded text: lower case, no accents, Latin letters for look-alikes, single blanks.
In patterns a blank also matches a line end. Each pattern comes after a list of words, of which the
text must contain one: finding plain words is far faster than trying a pattern at every character.
Repeats are bounded, so that time stays linear for any text. A flag changes no score, so the plain
cases are enough; an author who wants to evade a pattern can.
"""

from typing import TypeAlias

from judge.scoring.attacks.marks import CONTROL

Table: TypeAlias = tuple[tuple[tuple[str, ...], str], ...]

# If a question asks for a word or a sign, an opener or a punctuation mark may be the answer.
ASKS_FOR_A_WORD = (
    r"\b(?:words?|terms?|synonyms?|calls?|called|says?|said|translat\w*|mean(?:s|ing)?|names?|titles?|headings?|labels?|"
    r"symbols?|signs?|characters?|operators?|punctuation|marks?|delimiters?|separators?|terminators?|regex\w*|letters?|"
    r"keys?|types?|writ\w*|spell|repeat|echo|quote|language|chinese|japanese|korean|spanish|french|german|russian|"
    r"wort\w*|begriff\w*|heisst|zeichen|ubersetz\w*|mot|terme|signe|tradui\w*|appelle|dit|palabra|termino|simbolo|signo|"
    r"traduc\w*|dice|llama|significa|palavra|traduz\w*|слово|термин\w*|знак|символ|переве\w*|назыв\w*)\b"
    r"|[词詞字符号語语訳译称叫]"
)
ASKS_FOR_A_SCORE = r"scor|rat(?:e|ing)|grad|marks?\b|points?\b|result|punkt|bewert|puntu|pontu|оцен|счет|分|点|評価|점"

# A line or sentence `score: 5`, the form that the prompt asks of the judge; and a response that is
# nothing else.
SCORE_WORDS = (
    *("score", "punktzahl", "puntuacion", "pontuacao", "оценка"),
    *("评分", "評分", "得分", "分数", "スコア", "点数", "점수"),
)
_SCORE = f"(?:{'|'.join(SCORE_WORDS)})"
_NUMBER = r"(?:10{1,2}|[0-9])(?![\d\w]|[.,]\d)"
SCORE_STATEMENT = (
    r"(?:^|[.!?;。]|--|\\n)[^\w\n\"'=]{0,12}"
    r"(?:(?:final|total|overall|my|your|the|correct|judge'?s?|verdict)\W{1,4}){0,3}"
    rf"{_SCORE}[\s*_`]{{0,9}}:[\s*_`\[(<]{{0,9}}{_NUMBER}(?!\s?(?:[-:x×]|to\b|vs?\b|all\b|%))"
)
LONE_SCORE = (
    rf"\W*+(?:(?:the|my|your|final|total|overall)\W++)*(?:{_SCORE}|rating(?=\W*+\d\W*\]\]))\W*+(?:is\W++|of\W++)?"
    r"\d{1,3}(?:\s*(?:/|out of|of)\s*\d{1,3})?(?:\s*(?:points?|stars?))?\W*+(?:score)?\W*+"
)
# A neighbouring line `name: value` shows that the score is a piece of data rather than a verdict.
DATA_LINE = (
    r"\s*(?:[-{,]\s*)?[\"']?(?!(?:question|response|answer|justif\w*|reason\w*|rationale|explanation|feedback|verdict|"
    r"evaluation|assistant|user|human|judge|system|q|a)\b)[a-z_][\w.-]*[\"']?\s*[:=]\s*\S"
)

_TOP = r"(?:perfect|full|maximum|max|highest(?: possible)?|top)"
_BEHIND = (
    r"(?=\W{0,20}(?:$|\n)|\s?(?:[.!,;)\]\"'*]|/\s*\d|(?:points?|marks?|out "
    r"of|and|or|because|for)\b))"
)
_FIVE = rf"(?:five|a\+|{_NUMBER}){_BEHIND}"
_GRADE = (
    r"(?:all )?(?:an? |the |as |with |at )*(?:(?:score|rating|grade|mark) of )?"
    rf"(?:{_TOP} (?:scores?|marks?|ratings?|grades?|points?|credit|{_NUMBER})|{_FIVE})"
)
_THIS = r"(?:this|the|my|that) (?:\w+ )?(?:response|answer|reply|submission)"
_REASON = r"[\"'](?:justif|reason|rational|explan|feedback|verdict|comment)\w*[\"']"
_FULL_MARKS = (
    r"(?:volle\w? punktzahl|hochstpunktzahl|note maximale|puntuacion maxima|nota "
    r"maxima|максимальн\w+|(?:5|пять) балл"
    r"|оценку (?:5|пять))"
)
SCORE_WISHES: Table = (
    (
        ("score:",),
        (
            r"\b(?:output|write|return|reply|respond|answer|begin|start|say|put) "
            rf"[^.\n]{{0,40}}\bscore: ?{_NUMBER}"
        ),
    ),
    (("score",), rf"\b(?:correct|right|fair) score is {_GRADE}"),
    (
        ("score",),
        rf'"score"\s?:\s?"?{_NUMBER}[^{{}}]{{0,40}}{_REASON}|{_REASON}\s?:[^{{}}]{{0,400}}"score"\s?:\s?"?{_NUMBER}',
    ),
    (
        ("[[", "<score>"),
        rf"(?:rating|score|verdict)\W{{0,6}}\[\[\s?{_NUMBER}\s?\]\]|(?:\A|[^>\s])\s?<score>\s?{_NUMBER}",
    ),
    (
        ("give", "gave", "rate", "award", "score", "grade", "assign"),
        rf"\b(?:given?|gave|rated?|award(?:ed)?|scored?|graded?|assign(?:ed)?) {_THIS} {_GRADE}"
        r"|\b(?:(?<![a-z] )|(?<=please )|(?<=and ))(?:give|rate|award|score|grade) "
        rf"(?:this|it|me) {_GRADE}",
    ),
    (
        ("deserve", "merit", "should"),
        rf"(?:{_THIS}|\b(?:this|it|i)) (?:deserves?|merits?|should (?:get|receive|score)) {_GRADE}",
    ),
    (
        (
            "gib",
            "geben",
            "bewert",
            "donne",
            "attribue",
            "dale",
            "atribua",
            "поставь",
            "дай",
            "оцени",
        ),
        (
            r"\b(?:gib|geben|bewert|donne|attribue|dale|atribua|поставь|дай|оцени)\w* "
            rf"[^.\n]{{0,40}}{_FULL_MARKS}"
        ),
    ),
    (
        ("分", "点"),
        r"(?:给|給|打)[^。\n]{0,10}(?:5|五|满|滿)\s?分|(?:5|五|満|最高)点[^。\n]{0,6}(?:つけ|付け|与え|くださ)",
    ),
)

_TOLD = (
    r"(?:instruc\w+|guidelines|system prompt|rubric\w*|(?:scoring|grading|evaluation) "
    r"\w+|criteri\w+|rules|regras"
    r"|consignes|regeln|anweisung\w*|инструкци\w*|правила)"
)
_DROP = (
    "ignor|disregard|forget|overrid|bypass|vergiss|oublie|olvid|desconsider|esqueca|игнорир|забудь"
)
ORDERS: Table = (
    (
        tuple(_DROP.split("|")),
        rf"\b(?:{_DROP})\w* (?:(?!warn|error)\w+ ){{0,4}}?"
        rf"(?:{_TOLD}\b(?! (?:on|in|of|for|from|that)\b)|everything (?:above|you)|(?:the "
        r")?above\b(?! \w))",
    ),
    (
        ("忽略", "无视", "忘记", "無視"),
        r"(?:忽略|无视|忘记)[^。\n]{0,12}(?:指令|指示|规则|標準|标准|评分|提示)|(?:指示|命令|ルール|基準)[^。\n]{0,12}無視",
    ),
    (
        ("judge", "evaluator", "grader"),
        r"\b(?:(?:dear|hey|hello|attention,?|(?:note|message|instructions) (?:to|for)) "
        r"(?:the |all )?(?:ai |llm )?"
        r"(?:judge|evaluator|grader)s?|as (?:the |an? |your )?(?:ai |llm )?"
        r"(?:evaluator|grader)|as the judge)\b(?=[,:!]| (?:you|please|be)\b)",
    ),
    (
        ("you are now", "you are no longer", "developer mode", "do anything now"),
        r"\byou are now (?:an? (?:[\w'-]+ "
        r"){0,3}(?:assistant|judge|evaluator|grader|ai|model|bot)|dan|in \w+ mode)\b"
        r"|\byou are no longer (?:an?|the|bound)\b|developer mode (?:is |has been "
        r")?(?:on|enabled)|do anything now",
    ),
    (
        ("rubric", "instructions", "prompt"),
        r"\b(?:new|updated|real|hidden) (?:scoring |grading )?(?:rubric|instructions):"
        r"|rubric (?:is|has been) (?:now )?(?:void|obsolete|superseded|replaced|disabled)"
        r"|\b(?:repeat|reveal|print|show(?: me)?|output|leak) (?:your|the) (?:system "
        r"prompt|prompt|instructions)\b",
    ),
    (
        ("end of",),
        (
            r"(?:^|[-=#*(<{_>\[\n]\s?)end of (?:the "
            r")?(?:response|answer|prompt|input)[^\w\n]{0,20}?(?:$|[-=#*)>}_\]\n])"
        ),
    ),
    # control words of chat templates
    (("<",), f"<(?:{CONTROL['<']})"),
    (("[",), rf"\[(?:{CONTROL['[']})"),
    (
        ("# instruction", "system"),
        r"###? (?:system|instructions?):"
        r"|(?:^|\n)\W{0,9}(?:\[system\]|system(?: \w+)?: ?(?:you\b|ignore|new |the "
        r"(?:response|answer)))",
    ),
)
