"""Text of others in the bot's messages is drawn as plain text."""

from html import unescape

from playwright.async_api import expect

from bot.pipeline.verdict_text import verdict_message
from bot.slack.mrkdwn import clip
from pocket_slack import Person, Sandbox, Workspace
from tests.pipeline.test_verdict_text import a_case, a_verdict

FOREIGN = [
    *(
        "*bold* and *two words* _it_ ~gone~ `code` ```block```",
        "&gt; one\n&gt; two",
        "> one\n> two",
        ":tada: a:+1:b :100:",
    ),
    *(
        "<!here> <@U1> <#C1|help> <https://example.com|label>",
        "*_`~:tada:~`_*",
        "* *_*a*_* *",
        "`*:tada:*`",
    ),
]


async def test_text_of_others_is_drawn_as_plain_text(open_tab) -> None:
    workspace = Workspace({})
    workspace.add_channel("help", [workspace.add_user("ann"), workspace.bot])
    bot = Person(workspace, workspace.bot.id)
    for text in FOREIGN:
        line = {"type": "mrkdwn", "text": clip(text.replace("https:", ""), 300)}
        bot.post("help", "a line", blocks=[{"type": "section", "text": line}])
    for text in FOREIGN:
        verdict = verdict_message(
            a_case(question=None, question_source=None), a_verdict(justification=text)
        )
        bot.post("help", verdict.text, blocks=verdict.blocks)
    async with Sandbox(workspace) as slack:
        messages = (await open_tab(slack)).page.get_by_role("main").locator("li.message")
        reasons = messages.locator("em")
        await expect(reasons).to_have_count(len(FOREIGN))
        drawn = "all => all.map(each => each.innerHTML)"
        lines = await messages.locator(".section-body .text").evaluate_all(drawn)
        assert not [
            line
            for line in lines[: len(FOREIGN)]
            if any(each in line for each in ("<", "🎉", "👍", "💯"))
        ]
        assert [unescape(each) for each in await reasons.evaluate_all(drawn)] == [
            " ".join(each.split()) for each in FOREIGN
        ]
