"""What texts say to a judge, as data: openers without an answer, wishes for a score, orders.

Patterns are for folded text: lower case, no accents, look-alikes as Latin letters. Each stands under a word without
which it cannot match, since looking for a plain word is far cheaper than trying a pattern.
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
    r"\b(?:words?|terms?|synonyms?|called|calls?|say|says|said|translat\w*|mean(?:s|ing)?|names?|titles?|headings?|labels?|"
    r"symbols?|signs?|characters?|operators?|punctuation|marks?|delimiters?|separators?|terminators?|regex\w*|letters?|"
    r"keys?|types?|writ\w*|spell|language|chinese|japanese|korean|spanish|french|german|italian|russian|repeat|echo|quote|wort\w*|begriff\w*|heisst|zeichen|ubersetz\w*|mot|terme|signe|tradui\w*|appelle|dit|"
    r"palabra|termino|simbolo|signo|traduc\w*|dice|llama|significa|palavra|traduz\w*|слово|термин\w*|знак|символ|переве\w*|"
    r"назыв\w*)\b|[词詞字符号語语訳译称叫]"
)
ASKS_FOR_A_SCORE = (
    r"scor|rat(?:e|ing)|grad|marks?\b|points?\b|result|punkt|bewert|not[ea]\b|puntu|pontu|оцен|счет|分|点|評価|점"
)

_NUMBER = r"(?:10{1,2}|[0-9])(?![\d\w]|[.,]\d)"
_TOP = r"(?:perfect|full|maximum|max|highest|top|best)(?:\s+possible)?"
_MARKS = r"(?:scores?|marks?|ratings?|grades?|points?|credit)"
_ENDS = r"(?=\W*(?:$|\n)|\s*(?:[.!,;)\]\"'*]|/\s*\d|points?\b|marks?\b|out\s+of\b|and\b|or\b|because\b|please\b|for\b|as\b))"
_GRADE = (
    rf"(?:an?\s+|the\s+)?(?:(?:score|rating|grade|mark)\s+of\s+)?"
    rf"(?:(?:{_TOP}\s+)+(?:{_MARKS}\b|{_NUMBER})|(?:{_NUMBER}|five|ten|a\+){_ENDS})"
)
_THIS = r"(?:this|the|my|that)\s+(?:\w+\s+)?(?:response|answer|reply|submission|completion)"

# A line or sentence `score: 5`, as the prompt wants it from the judge; and a response that is nothing else.
SCORE_WORDS = (
    *(
        "score",
        "punktzahl",
        "puntuacion",
        "pontuacao",
        "оценка",
        "评分",
        "評分",
        "得分",
        "分数",
        "スコア",
        "点数",
        "점수",
    ),
)
_SCORE_WORD = rf"(?:{'|'.join(SCORE_WORDS)})"
SCORE_STATEMENT = (
    r"(?:^|[.!?;。]\s*|--+\s*|\\n)[^\w\n\"'=]{0,12}(?:(?:final|total|overall|my|your|the|correct|judge'?s?|verdict)\W{1,4})"
    rf"{{0,3}}{_SCORE_WORD}[\s*_`]*:[\s*_`\[(<]*{_NUMBER}(?!\s*(?:[-–:x×]|to\b|vs?\b|all\b|%)\s*\d?)"
)
LONE_SCORE = (
    rf"\W*+(?:(?:the|my|your|final|total|overall)\W++)*(?:{_SCORE_WORD}|rating(?=\W*+\d\W*\]\]))\W*+(?:is\W++|of\W++)?"
    r"\d{1,3}(?:\s*(?:/|out\s+of|of)\s*\d{1,3})?(?:\s*(?:points?|stars?))?\W*+(?:score)?\W*+"
)
# A neighbouring line `name: value` makes it data rather than a verdict.
DATA_LINE = (
    r"\s*(?:[-{,]\s*)?[\"']?(?!(?:question|response|answer|justif\w*|reason\w*|rationale|explanation|feedback|verdict|"
    r"evaluation|assistant|user|human|judge|system|q|a)\b)[a-z_][\w.-]*[\"']?\s*[:=]\s*\S"
)

SCORE_WISHES = {
    "score": (
        rf"\b(?:output|write|print|return|reply|respond|answer|give|assign|award|emit|begin|start|say|put|with|exactly)\b"
        rf"[^.\n]{{0,30}}[\s\"'`*(\[]score[\s*]*:[\s*\"'`]*{_NUMBER}",
        rf"[\"']score[\"']\s*:\s*\"?{_NUMBER}[^{{}}]{{0,40}}[\"'](?:justif|reason|rational|explan|feedback|verdict|comment)",
        rf"[\"'](?:justif|reason|rational|explan|feedback|verdict)\w*[\"']\s*:[^{{}}]{{0,400}}[\"']score[\"']\s*:\s*\"?{_NUMBER}",
        rf"(?:\A|[^>\s])\s?<score>\s?{_NUMBER}",
        rf"\b(?:score|mark)\s+{_THIS}\s+(?:as\s+)?{_GRADE}",
        rf"\b(?:the|a)\s+(?:correct|right|appropriate|only\s+fair)\s+score\s+(?:here\s+|for\s+\w+\s+\w+\s+)?is\s+{_GRADE}",
    ),
    "[[": (rf"(?:rating|score|verdict)\W{{0,6}}\[\[\s*{_NUMBER}\s*\]\]",),
    "rate": (
        rf"(?:^|[.!?:;,\n\"'(]\s*|\b(?:please|must|should|shall|to|and|then|now)\s+)rate\s+(?:{_THIS}|this|it|me)\s+"
        rf"(?:as\s+|with\s+)?{_GRADE}",
        rf"\brated\s+{_THIS}\s+(?:as\s+|at\s+)?{_GRADE}",
    ),
    "give": (
        rf"(?:^|[.!?:;,\n\"'(]\s*|\b(?:please|must|should|shall|will|to|and|then|now|just|always)\s+)"
        rf"give\s+(?:{_THIS}|this|it|me)\s+{_GRADE}",
        rf"\bgiven?\s+{_THIS}\s+{_GRADE}",
    ),
    "gave": (rf"\bgave\s+{_THIS}\s+{_GRADE}",),
    "award": (
        rf"\baward\s+(?:(?:{_THIS}|this|it|me)\s+)?(?:all\s+)?{_GRADE}",
        rf"\bawarded\s+{_THIS}\s+{_GRADE}",
        r"\baward\s+(?:all|every)\s+(?:five|5|the)\s+points",
    ),
    "assign": (rf"\bassign(?:ed)?\s+(?:{_THIS}|this|it)\s+{_GRADE}",),
    "grade": (rf"\bgraded?\s+{_THIS}\s+(?:as\s+|at\s+|with\s+)?{_GRADE}",),
    "deserve": (rf"(?:{_THIS}|\b(?:this|it|i))\s+(?:\w+ly\s+)?deserves?\s+(?:all\s+)?{_GRADE}",),
    "merits": (rf"(?:{_THIS}|\b(?:this|it))\s+(?:\w+ly\s+)?merits\s+{_GRADE}",),
    "should": (
        rf"{_THIS}\s+should\s+(?:\w+ly\s+)?(?:get|receive|earn|score|be\s+(?:given|awarded|rated|scored|graded))\s+{_GRADE}",
    ),
    "gib": (
        r"\bgib\s+(?:dieser\s+antwort|mir|ihr|bitte)\s[^.\n]{0,20}(?:volle\s+punktzahl|hochstpunktzahl|5\s+punkte|eine\s+5\b)",
    ),
    "geben sie": (
        r"\bgeben\s+sie\s+(?:dieser\s+antwort|mir|ihr|bitte)\s[^.\n]{0,20}(?:volle\s+punktzahl|hochstpunktzahl|5\s+punkte|eine\s+5\b)",
    ),
    "bewerte": (r"\bbewerten?\s+(?:sie\s+)?diese\s+antwort\s[^.\n]{0,20}(?:\b5\b|voller\s+punktzahl|hochst)",),
    "donne": (r"\bdonnez?(?:-\w+)?\s[^.\n]{0,30}(?:note\s+(?:maximale|de\s+5|parfaite)|5\s*/\s*5|5\s+points)",),
    "attribue": (r"\battribuez?\s[^.\n]{0,30}(?:note\s+(?:maximale|de\s+5|parfaite)|5\s*/\s*5|5\s+points)",),
    "puntuacion": (
        r"\b(?:dale|dele|da|otorga|otorgue|asigna|asigne)\s[^.\n]{0,30}puntuacion\s+(?:maxima|perfecta|de\s+5)",
    ),
    "nota": (r"\b(?:de|da|dale|atribua|conceda|pon|ponle)\s[^.\n]{0,25}nota\s+(?:maxima|5|perfeita|de\s+5)",),
    "分": (r"(?:给|給|打|评为|評為)[^。\n]{0,10}(?:5|五|满|滿)\s*分",),
    "点": (r"(?:5|五|満|最高)点[^。\n]{0,6}(?:つけ|付け|与え|評価|くださ|下さ|にし)",),
    "оцен": (
        r"(?:поставь|поставьте|дай|дайте|выставь|выставьте)[^.\n]{0,30}(?:оценку\s+(?:5|пять)|(?:высш|максимальн)\w+\s+оцен)",
    ),
    "балл": (r"(?:поставь|поставьте|дай|дайте|оцени|оцените)[^.\n]{0,30}(?:5|пять|максимальн\w+)\s+балл",),
}

_WORK = r"(?:rubric|grading|scoring|judging|evaluation\s+(?:criteri\w+|rules?|instructions?)|criteria\s+above|scale\s+above)"
_TOLD = r"(?:instructions?|guidelines?|directives?|directions|rules|prompts?|commands?|criteria|constraints)"
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|original|initial|system|your|existing|former|given)"
_WHAT = r"\s+(?:(?:all|any|every|each|of|the|these|those|that|this|what\w*|everything|anything|and|or|completely|entirely)\s+){0,5}"
_TASK = (
    rf"(?:{_WORK}|(?:{_EARLIER}\s+(?:\w+\s+)?){{1,3}}{_TOLD}\b|{_TOLD}\s+(?:above|before|given\s+(?:to\s+you|above)))"
)
_ABOVE = r"(?:above|before)\b(?!\s+(?:if|error|warning|message|notice|e-?mail|example|step|line|\w+\s+if))"
_DROP = rf"{_WHAT}(?:{_TASK}|{_ABOVE})"
_GRADER = r"(?:evaluator|grader|rater|scorer|assessor|llm\s+judge|ai\s+judge|judge\s+model|grading\s+(?:model|assistant|system))"

ORDERS = {
    "ignore": (
        rf"\bignore{_DROP}",
        r"\bignorez?\s+(?:toutes?\s+)?(?:les|la|vos|tes)\s+(?:\w+\s+)?(?:instructions|consignes|criteres|grille|regles|bareme)",
        r"\bignore\s+(?:todas?\s+|todos\s+)?(?:las?|los|sus?|as?|os?|suas|seus)\s+(?:\w+\s+)?"
        r"(?:instrucciones|criterios|reglas|rubrica|indicaciones|instrucoes|regras)",
    ),
    "ignora": (
        r"\bignora\s+(?:todas?\s+|todos\s+)?(?:las?|los|tus|as?|os?|suas)\s+(?:\w+\s+)?"
        r"(?:instrucciones|criterios|reglas|rubrica|indicaciones|instrucoes|regras)",
    ),
    "ignorier": (
        r"\bignorieren?\s+(?:sie\s+)?(?:bitte\s+)?(?:\w+\s+){0,3}(?:anweisung\w*|vorgaben|kriterien|bewertungs\w+|rubrik|regeln)",
    ),
    "vergiss": (r"\bvergiss\s+(?:\w+\s+){0,3}(?:anweisung\w*|vorgaben|kriterien|regeln)",),
    "oublie": (r"\boubliez?\s+(?:\w+\s+){0,3}(?:instructions|consignes|criteres|regles)",),
    "olvid": (r"\bolvid[ae]\s+(?:\w+\s+){0,3}(?:instrucciones|criterios|reglas|indicaciones)",),
    "desconsider": (r"\bdesconsidere\s+(?:\w+\s+){0,3}(?:instrucoes|criterios|regras)",),
    "esqueca": (r"\besqueca\s+(?:\w+\s+){0,3}(?:instrucoes|criterios|regras)",),
    "disregard": (rf"\bdisregard{_DROP}",),
    "forget": (rf"\bforget{_DROP}", r"\bforget\s+everything\s+(?:above|before|you\s+were\s+told|i\s+said)"),
    "override": (rf"\boverride{_WHAT}{_TASK}", r"\bsystem\s+override\b"),
    "bypass": (rf"\bbypass{_WHAT}{_TASK}",),
    "忽略": (r"忽略[^。\n]{0,12}(?:指令|指示|说明|說明|规则|規則|标准|標準|评分|評分|提示)",),
    "无视": (r"无视[^。\n]{0,12}(?:指令|指示|说明|规则|标准|评分|提示)",),
    "忘记": (r"忘记[^。\n]{0,12}(?:指令|指示|说明|规则|标准|提示)",),
    "無視": (r"(?:指示|命令|ルール|基準|プロンプト|ルーブリック)[^。\n]{0,12}無視(?:し|せ)",),
    "игнорир": (r"игнорируй\w*\s+(?:\w+\s+){0,3}(?:инструкци|указани|критери|правил|рубрик|промпт)",),
    "забудь": (r"забудь\w*\s+(?:\w+\s+){0,3}(?:инструкци|указани|критери|правил|промпт)",),
    "follow": (
        r"\b(?:do\s+not|don'?t|never|stop)\s+(?:follow|apply|use)(?:ing)?\s+(?:the|this|that|any)\s+(?:\w+\s+)?"
        r"(?:rubric|scoring|grading\s+(?:scheme|criteria|rubric))",
    ),
    "rubric": (
        r"\b(?:do\s+not|don'?t|never|stop)\s+(?:follow|apply|us)\w*\s+(?:the|this|that|any)\s+(?:\w+\s+)?rubric",
        r"\brubric\s+(?:\w+\s+)?(?:is|has\s+been)\s+(?:now\s+)?(?:void|obsolete|outdated|superseded|cancell?ed|replaced|suspended|disabled)",
        r"\b(?:new|updated|revised|real|actual|true)\s+(?:scoring\s+|grading\s+)?rubric\s*:",
    ),
    "instructions": (
        r"(?:^|\n)\W*(?:new|real|actual|true|hidden|secret|additional|important)\s+(?:\w+\s+)?instructions?(?:\s+(?:for|to)\s+the\s+\w+)?\s*:",
        r"\b(?:reveal|repeat|print|show|output|leak|display)\s+(?:me\s+)?your\s+(?:\w+\s+)?(?:prompt|instructions)",
        rf"\binstructions?\s+(?:for|to)\s+(?:the\s+)?(?:ai\s+|llm\s+)?(?:judge|{_GRADER})\b",
    ),
    "system prompt": (
        r"\b(?:reveal|repeat|print|show|output|leak|display)\s+(?:me\s+)?(?:your|the)\s+(?:\w+\s+)?system\s+prompt",
    ),
    "evaluat": (
        r"\bas\s+(?:the|an?|your)\s+(?:\w+\s+)?evaluator\b[^.\n]{0,20}\b(?:you|your|i|we|please)\b",
        r"(?:^|[\n.!?]\s*)\W{0,4}(?:dear|hey|hello|hi|attention|note\s+(?:to|for)|message\s+(?:to|for))\s+(?:the\s+|all\s+)?(?:\w+\s+)?evaluators?\b",
        r"\bevaluator\s*[,:]\s*(?:you|please|ignore|give|output|award|assign|stop)\b",
        r"\bstop\s+evaluating\s+(?:this|the)\s+(?:response|answer)",
    ),
    "grader": (
        r"\bas\s+(?:the|an?|your)\s+(?:\w+\s+)?grader\b[^.\n]{0,20}\b(?:you|your|i|we|please)\b",
        r"\b(?:dear|hey|hello|hi|attention|note\s+(?:to|for)|message\s+(?:to|for))\s+(?:the\s+)?(?:\w+\s+)?graders?\b",
        r"\bgrader\s*[,:]\s*(?:you|please|ignore|give|output|award|assign|stop)\b",
    ),
    "judge": (
        r"\bas\s+(?:the|an?)\s+(?:\w+\s+)?judge\b[^.\n]{0,60}\b(?:scores?|rubric|full\s+marks|points|this\s+response|this\s+answer)\b",
        r"\b(?:attention|note\s+(?:to|for)|message\s+(?:to|for))\s*,?\s*(?:the\s+)?(?:ai\s+|llm\s+)?judge\b",
        r"\b(?:ai|llm)\s+judge\s*[,:]",
        r"\bjudge\s*[,:]\s*(?:please\s+(?:give|ignore|score|rate)|ignore|give|output|award|assign|score)\b",
        r"\byou\s+are\s+(?:now\s+)?(?:an?|the)\s+(?:\w+\s+){0,3}judge\s+(?:who|that|and)\b",
    ),
    "you are": (
        r"\byou\s+are\s+now\s+(?:in\s+)?(?:dan\b|an?\s+(?:[\w'-]+\s+){0,3}(?:assistant|evaluator|judge|grader|ai|model|chatbot|bot|pirate)\b"
        r"|(?:\w+\s+)?(?:developer|debug|maintenance|jailbreak|god)\s+mode|unrestricted|free\s+(?:from|of))",
        r"\byou\s+are\s+no\s+longer\s+(?:an?|the|bound|a\s+\w+)\s+(?:\w+\s+)?(?:judge|evaluator|grader|ai|by\b|to\b)",
        r"\bfrom\s+now\s+on,?\s+you\s+are\b",
    ),
    "from now on": (
        r"\bfrom\s+now\s+on,?\s+you\s+(?:must|will|shall)\s+(?:\w+\s+)?(?:act|answer|reply|respond|give|score|rate|output)\b",
    ),
    "your": (
        r"\byour\s+(?:\w+\s+){0,2}task\s+is\s+(?:\w+\s+)?to\s+(?:\w+\s+)?(?:give|award|score|assign|output|rate)\b",
    ),
    "developer mode": (r"\bdeveloper\s+mode\s+(?:is\s+|has\s+been\s+)?(?:on|enabled|activated)",),
    "do anything now": (r"do\s+anything\s+now",),
    "end of": (
        r"(?:^|\n)[^\w\n]*end\s+of\s+(?:the\s+)?(?:\w+\s+)?(?:response|answer|question|input|prompt|submission)[^\w\n]*(?:$|\n)",
        r"[-=#*\[(<{]{2,}\s*end\s+of\s+(?:the\s+)?(?:\w+\s+)?(?:response|answer|question|input|prompt|submission)",
    ),
    "system": (
        r"(?:^|\n)\W*system\s*(?:prompt|message|override|note|update|instruction)?\W*:\W*(?:you\b|ignore|disregard|the\s+(?:evaluat|judg|"
        r"grad|scor|response|answer|rubric)|new\s+(?:instruction|rule|rubric)|give|award|from\s+now|override|always|all\s+\w+s\s+(?:get|score))",
        r"(?:^|\n)\W*\[/?system\]",
        r"(?:^|\n)###+\s*system\s*:",
        r"<<sys>>|<\|system\|>",
    ),
    "[inst]": (r"(?:^|\s)\[inst\](?:\s|$)",),
    "[/inst]": (r"\[/inst\]",),
    "<|": (
        r"<\|(?:im_start|im_end|eot_id|start_header_id|end_header_id|endoftext|begin_of_text|user|assistant|end)\|>",
    ),
    "_of_turn>": (r"<(?:start|end)_of_turn>",),
    "## instruction": (r"(?:^|\n)#{2,4}\s*instructions?\s*:",),
}
