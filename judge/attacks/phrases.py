"""What texts say to a judge, as data: openers without an answer, wishes for a score, orders.

All is for folded text: lower case, no accents, look-alikes as Latin letters, single blanks. In patterns a blank stands
for a line end as well. Before a pattern stands a phrase without which it cannot match, and where it can it begins with
a plain word: finding plain words is far faster than trying a pattern at every character. Repeats are bounded, so that
time stays linear in whatever text.
"""

# "One Token to Fool LLM-as-a-Judge" (arXiv 2507.08794) found that these fool judges; and the same in other words.
OPENERS = (
    *("thought process", "thinking process", "reasoning process", "solution", "解", "かいせつ", "respuesta"),
    *("lets solve this problem step by step", "let us solve this problem step by step", "lets think step by step"),
    *("lets solve this step by step", "lets work through this step by step", "lets break this down step by step"),
    *("losen wir dieses problem schritt fur schritt", "gehen wir schritt fur schritt vor"),
    *("resolvons ce probleme etape par etape", "reflechissons etape par etape"),
    *("resolvamos este problema paso a paso", "pensemos paso a paso", "vamos resolver este problema passo a passo"),
    *("давайте решим эту задачу шаг за шагом", "давайте подумаем шаг за шагом"),
    *("让我们一步一步地解决这个问题", "让我们一步一步地思考", "让我们逐步思考", "思考过程"),
    *("この問題を段階的に解いていきましょう", "ステップバイステップで考えましょう", "思考過程"),
)
# The same, but words that may be an answer: openers only with a colon behind.
HEADINGS = (
    *("reasoning", "analysis", "explanation", "answer", "final answer", "the answer is", "response", "step 1"),
    *("losung", "antwort", "gedankengang", "reponse", "raisonnement", "solucion", "razonamiento", "resposta"),
    *("solucao", "raciocinio", "soluzione", "risposta", "oplossing", "antwoord", "rozwiazanie", "cozum"),
    *("решение", "ответ", "解答", "答案", "解説", "回答", "풀이", "해설", "정답"),
)
# A question that asks for a word or a sign may well be answered by one that is an opener or a mark elsewhere.
ASKS_FOR_A_WORD = (
    r"\b(?:words?|terms?|synonyms?|calls?|called|says?|said|translat\w*|mean(?:s|ing)?|names?|titles?|headings?|labels?|"
    r"symbols?|signs?|characters?|operators?|punctuation|marks?|delimiters?|separators?|terminators?|regex\w*|letters?|"
    r"keys?|types?|writ\w*|spell|repeat|echo|quote|language|chinese|japanese|korean|spanish|french|german|russian|"
    r"wort\w*|begriff\w*|heisst|zeichen|ubersetz\w*|mot|terme|signe|tradui\w*|appelle|dit|palabra|termino|simbolo|signo|"
    r"traduc\w*|dice|llama|significa|palavra|traduz\w*|слово|термин\w*|знак|символ|переве\w*|назыв\w*)\b"
    r"|[词詞字符号語语訳译称叫]"
)
ASKS_FOR_A_SCORE = r"scor|rat(?:e|ing)|grad|marks?\b|points?\b|result|punkt|bewert|puntu|pontu|оцен|счет|分|点|評価|점"


def _after(word: str, *before: str) -> str:
    """A pattern for `word` behind one of `before`, each of a fixed length; it begins with `word`, to be found fast."""
    return word + "(?:" + "|".join(f"(?<={each}{word})" for each in before) + ")"


def _order(verb: str) -> str:
    """A pattern for `verb` where it gives an order: first in a sentence or line, or after such a word as "please"."""
    asks = ("please", "must", "should", "shall", "will", "to", "and", "then", "now", "just", "always")
    return _after(verb, "^", r"[.!?:;,\n\"'(*_>]", r"[.!?:;,>*#-]\s", *(rf"\b{word}\s" for word in asks))


# A line or sentence `score: 5`, as the prompt wants it from the judge; and a response that is nothing else.
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
# A neighbouring line `name: value` makes it one of several data rather than a verdict.
DATA_LINE = (
    r"\s*(?:[-{,]\s*)?[\"']?(?!(?:question|response|answer|justif\w*|reason\w*|rationale|explanation|feedback|verdict|"
    r"evaluation|assistant|user|human|judge|system|q|a)\b)[a-z_][\w.-]*[\"']?\s*[:=]\s*\S"
)

_TOP = r"(?:(?:perfect|full|maximum|max|highest|top|best)(?: possible)? )"
_BEHIND = r"(?=\W{0,20}(?:$|\n)|\s?(?:[.!,;)\]\"'*]|/\s*\d|(?:points?|marks?|out of|and|or|because|please|for|as)\b))"
_GRADE = (
    r"(?:an? |the )?(?:(?:score|rating|grade|mark) of )?"
    rf"(?:{_TOP}+(?:(?:scores?|marks?|ratings?|grades?|points?|credit)\b|{_NUMBER})|(?:{_NUMBER}|five|ten|a\+){_BEHIND})"
)
_WORK = r"(?:response|answer|reply|submission|completion)"
_THIS = rf"(?:this|the|my|that) (?:\w+ )?{_WORK}"
_IT = rf"(?:{_THIS}|this|it|me)"
_WORKS = ("response.", "answer.", "reply.", "submission.")
_GIVEN = r"(?:given|awarded|rated|scored|graded)"
_NOTE = r"(?:note (?:maximale|de 5|parfaite)|5\s?/\s?5|5 points)"
_REASON = r"[\"'](?:justif|reason|rational|explan|feedback|verdict|comment)\w*[\"']"

SCORE_WISHES = (
    (
        "score:",
        rf"\b(?:output|write|return|reply|respond|answer|begin|start|say|put) [^.\n]{{0,40}}\bscore: ?{_NUMBER}",
    ),
    ("score", rf"score {_THIS} (?:as )?{_GRADE}"),
    ("score", rf"{_after('score', r'correct.', r'right.', r'fair.')} is {_GRADE}"),
    ("score", rf'"score"\s?:\s?"?{_NUMBER}[^{{}}]{{0,40}}{_REASON}'),
    ("score", rf'{_REASON}\s?:[^{{}}]{{0,400}}"score"\s?:\s?"?{_NUMBER}'),
    ("<score>", rf"(?:\A|[^>\s])\s?<score>\s?{_NUMBER}"),
    ("[[", rf"(?:rating|score|verdict)\W{{0,6}}\[\[\s?{_NUMBER}\s?\]\]"),
    ("rate", rf"{_order('rate')} {_IT} (?:as |with )?{_GRADE}"),
    ("rate", rf"rated {_THIS} (?:as |at )?{_GRADE}"),
    ("give", rf"{_order('give')} {_IT} {_GRADE}"),
    ("give", rf"given? {_THIS} {_GRADE}"),
    ("gave", rf"gave {_THIS} {_GRADE}"),
    ("award", rf"award (?:{_IT} )?(?:all )?{_GRADE}"),
    ("award", rf"awarded {_THIS} {_GRADE}"),
    ("assign", rf"assign(?:ed)? (?:{_THIS}|this|it) {_GRADE}"),
    ("grade", rf"graded? {_THIS} (?:as |at |with )?{_GRADE}"),
    ("deserve", rf"(?:{_THIS}|\b(?:this|it|i)) (?:\w+ly )?deserves? (?:all )?{_GRADE}"),
    ("merits", rf"(?:{_THIS}|\b(?:this|it)) (?:\w+ly )?merits {_GRADE}"),
    ("should", rf"{_after('should', *_WORKS)} (?:\w+ly )?(?:get|receive|earn|score|be {_GIVEN}) {_GRADE}"),
    # German, French, Spanish, Portuguese, Chinese, Japanese, Russian
    ("gib", r"gib (?:dieser antwort|mir|ihr|bitte) [^.\n]{0,20}(?:volle punktzahl|hochstpunktzahl|5 punkte)"),
    (
        "geben sie",
        r"geben sie (?:dieser antwort|mir|ihr|bitte) [^.\n]{0,20}(?:volle punktzahl|hochstpunktzahl|5 punkte)",
    ),
    ("bewerte", r"bewerten? (?:sie )?diese antwort [^.\n]{0,20}(?:\b5\b|voller punktzahl|hochst)"),
    ("donne", rf"donnez? [^.\n]{{0,30}}{_NOTE}"),
    ("attribue", rf"attribuez? [^.\n]{{0,30}}{_NOTE}"),
    ("puntuacion", r"\b(?:dale|dele|da|otorg[ae]|asign[ae]) [^.\n]{0,30}puntuacion (?:maxima|perfecta|de 5)"),
    ("nota", r"\b(?:de|da|dale|atribua|conceda|pon|ponle) [^.\n]{0,25}nota (?:maxima|5|perfeita|de 5)"),
    ("分", r"(?:给|給|打|评为|評為)[^。\n]{0,10}(?:5|五|满|滿)\s?分"),
    ("点", r"(?:5|五|満|最高)点[^。\n]{0,6}(?:つけ|付け|与え|評価|くださ|下さ|にし)"),
    ("оценк", r"(?:поставь|дай|выставь)\w{0,9} [^.\n]{0,30}(?:высш|максимальн)\w+ оценк"),
    ("оценку", r"(?:поставь|дай|выставь)\w{0,9} [^.\n]{0,30}оценку (?:5|пять)"),
    ("балл", r"(?:поставь|дай|оцени)\w{0,9} [^.\n]{0,30}(?:5|пять|максимальн\w+) балл"),
)

_TOLD = r"(?:instructions?|guidelines?|directives?|directions|rules|prompts?|commands?|criteria|constraints)"
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|original|initial|system|your|existing|former|given)"
_RUBRIC = (
    r"(?:rubric|grading|scoring|judging|evaluation (?:criteri\w+|rules?|instructions?)|criteria above|scale above)"
)
_ALL = r" (?:(?:all|any|every|each|of|the|these|those|that|this|what\w*|everything|anything|and|or|completely) ){0,5}"
_TASK = rf"(?:{_RUBRIC}|(?:{_EARLIER} (?:\w+ )?){{1,3}}{_TOLD}\b|{_TOLD} (?:above|before|given (?:to you|above)))"
_ABOVE = r"(?:above|before)\b(?! (?:if|error|warning|message|notice|e-?mail|example|step|line|\w+ if))"
_DROP = rf"{_ALL}(?:{_TASK}|{_ABOVE})"
_KINDS = ("", "ai.", "llm.", "all.")
_AS = [rf"\bas.{article}.{kind}" for article in ("the", "a", "an", "your") for kind in _KINDS]
_DEAR = [rf"\b{word}.{kind}" for word in ("dear", "hey", "hello", "hi") for kind in _KINDS]
_ATTENTION = [f"attention{after}{kind}" for after in (".", ",.", ".the.") for kind in _KINDS]
_NOTE_TO = [
    f"{what}.{to}.{kind}"
    for what in ("note", "message", "instructions")
    for to in ("to", "for", "to.the", "for.the")
    for kind in _KINDS
]
_SPOKEN_TO = r"[^.\n]{0,20}\b(?:you|your|i|we|please)\b"
_OF_JUDGING = r"\b(?:scores?|rubric|full marks|points|this (?:response|answer))\b"
_SHOW = ("reveal.", "repeat.", "print.", "show.", "show.me.", "output.", "leak.", "display.")
_EDGE = r"[-=#*(<{_>\[\n]"
_TEXT = rf"(?:question|input|prompt|{_WORK})"
_EDGE_BEHIND = r"[^\w\n]{0,20}?(?:$|[-=#*)>}_\]\n])"
_SYSTEM_SAYS = (
    r"(?:you\b|ignore|disregard|new (?:instruction|rule|rubric)|give|award|from now|override|always|"
    r"the (?:evaluat|judg|grad|scor|response|answer|rubric))"
)
_ROMANCE = r"(?:instruc\w+|criteri\w+|regl\w+|regras|rubrica|indicaciones|consignes|bareme)"
_CHINESE = r"(?:指令|指示|说明|說明|规则|規則|标准|標準|评分|評分|提示)"
_RUSSIAN = r"(?:инструкци|указани|критери|правил|рубрик|промпт)"

ORDERS = (
    ("ignor", rf"ignore{_DROP}"),
    (
        "ignor",
        r"ignorieren? (?:sie )?(?:bitte )?(?:\w+ ){0,3}(?:anweisung|vorgaben|kriterien|bewertungs|rubrik|regeln)",
    ),
    (
        "ignor",
        rf"ignor(?:ez?|a) (?:tou\w+ |tod[ao]s? )?(?:les?|las?|los|[tsv]os|[ts]us|[ao]s?|suas|seus) (?:\w+ )?{_ROMANCE}",
    ),
    ("vergiss", r"vergiss (?:\w+ ){0,3}(?:anweisung|vorgaben|kriterien|regeln)"),
    ("oublie", rf"oubliez? (?:\w+ ){{0,3}}{_ROMANCE}"),
    ("olvid", rf"olvid[ae] (?:\w+ ){{0,3}}{_ROMANCE}"),
    ("desconsider", rf"desconsidere (?:\w+ ){{0,3}}{_ROMANCE}"),
    ("esqueca", rf"esqueca (?:\w+ ){{0,3}}{_ROMANCE}"),
    ("忽略", rf"忽略[^。\n]{{0,12}}{_CHINESE}"),
    ("无视", rf"无视[^。\n]{{0,12}}{_CHINESE}"),
    ("忘记", rf"忘记[^。\n]{{0,12}}{_CHINESE}"),
    ("無視", r"(?:指示|命令|ルール|基準|プロンプト|ルーブリック)[^。\n]{0,12}無視(?:し|せ)"),
    ("игнорир", rf"игнорируй\w{{0,9}} (?:\w+ ){{0,3}}{_RUSSIAN}"),
    ("забудь", rf"забудь\w{{0,9}} (?:\w+ ){{0,3}}{_RUSSIAN}"),
    ("disregard", rf"disregard{_DROP}"),
    ("forget", rf"forget{_DROP}"),
    ("forget", r"forget everything (?:above|before|you were told|i said)"),
    ("override", rf"override{_ALL}{_TASK}"),
    ("system", r"system override\b"),
    ("bypass", rf"bypass{_ALL}{_TASK}"),
    ("rubric", r"\b(?:do not|don'?t|never|stop) (?:follow|apply|us)\w* (?:the|this|that|any) (?:\w+ )?rubric"),
    (
        "rubric",
        r"rubric (?:\w+ )?(?:is|has been) (?:now )?(?:void|obsolete|outdated|superseded|cancell?ed|replaced|disabled)",
    ),
    ("rubric", r"\b(?:new|updated|revised|real|actual|true) (?:scoring |grading )?rubric:"),
    ("instructions:", r"(?:^|\n)\W{0,9}(?:new|real|actual|true|hidden|secret|additional|important) instructions:"),
    ("your", rf"{_after('your', *_SHOW)} (?:\w+ )?(?:prompt|instructions)"),
    ("system", rf"{_after('the', *_SHOW)} (?:\w+ )?system prompt"),
    ("task is", r"your (?:\w+ ){0,2}task is (?:\w+ )?to (?:\w+ )?(?:give|award|score|assign|output|rate)\b"),
    # spoken to the judge
    *((who, rf"{_after(who, *_AS)}\b{_SPOKEN_TO}") for who in ("evaluator", "grader")),
    *((who, _after(who, *_DEAR)) for who in ("evaluator", "grader")),
    *((who, _after(who, *_NOTE_TO, *_ATTENTION)) for who in ("evaluator", "grader", "judge")),
    ("judge", rf"{_after('judge', *_AS)}\b[^.\n]{{0,60}}{_OF_JUDGING}"),
    # another part to play
    (
        "you are now",
        r"you are now (?:in )?(?:dan\b|unrestricted|free (?:from|of)|(?:\w+ )?(?:developer|debug|god) mode)",
    ),
    (
        "you are now",
        r"you are now an? (?:[\w'-]+ ){0,3}(?:assistant|judge|evaluator|grader|ai|model|chatbot|bot|pirate)\b",
    ),
    ("no longer", r"you are no longer (?:bound|an?|the) (?:\w+ )?(?:judge|evaluator|grader|ai|by|to)\b"),
    ("from now on", r"from now on,? you are an?\b"),
    (
        "from now on",
        r"from now on,? you (?:must|will|shall) (?:\w+ )?(?:act|answer|reply|respond|give|score|rate|output)\b",
    ),
    ("developer mode", r"developer mode (?:is |has been )?(?:on|enabled|activated)"),
    ("do anything now", r"do anything now"),
    # what looks like the end of a text, a system message or a model's own control words
    (
        "end of",
        rf"{_after('end', '^', _EDGE, _EDGE + '.')} of (?:the )?(?:\w+ )?{_TEXT}{_EDGE_BEHIND}",
    ),
    ("system", rf"{_after('system', '^', _EDGE, _EDGE + '.')}(?: \w+)?\W{{0,9}}:\W{{0,9}}{_SYSTEM_SAYS}"),
    ("[system]", r"(?:^|\n)\W{0,9}\[system\]"),
    ("system", r"### system:"),
    ("# instruction", r"### instructions?:"),
    ("[inst]", r"(?:^|\s)\[inst\](?:\s|$)"),
    ("[/inst]", r"\[/inst\]"),
    ("<<sys", r"<<sys>>"),
    (
        "<|",
        r"<\|(?:im_start|im_end|eot_id|(?:start|end)_header_id|endoftext|begin_of_text|system|user|assistant|end)\|>",
    ),
    ("_of_turn>", r"<(?:start|end)_of_turn>"),
)
