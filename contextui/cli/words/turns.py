"""Chinese texts of a turn without a screen."""

CHINESE: dict[str, str] = {
    # the prompt
    'The prompt is empty. Say something: contextui -p "What is on my list?"': (
        '提示是空的。请说点什么：contextui -p "我的清单上有什么？"'
    ),
    "The prompt has more than {most} bytes, which no model takes.": (
        "提示超过 {most} 字节，没有模型能接受。"
    ),
    "The prompt on stdin is not UTF-8 text: see byte {place}.": (
        "标准输入中的提示不是 UTF-8 文本：见第 {place} 字节。"
    ),
    "The prompt has ~{needed} tokens and the budget is {budget}. "
    "Put it into a file and name that in a shorter prompt, or raise --budget.": (
        "提示约有 {needed} 个 token，而预算是 {budget}。"
        "请把它写进文件，在较短的提示中提到该文件，或提高 --budget。"
    ),
    # while it runs
    "{count} message": "{count} 条消息",
    "{count} messages": "{count} 条消息",
    "Making room: a summary takes the place of {many}.": "正在腾出空间：用总结代替 {many}。",
    "[What stands above broke off and does not count: {reason}]": (
        "［以上内容中断了，不作数：{reason}］"
    ),
    "Try {attempt} of {attempts} in {seconds} s: {reason}": (
        "{seconds} 秒后第 {attempt} 次尝试（共 {attempts} 次）：{reason}"
    ),
    # how it ends
    "{count} step": "{count} 步",
    "{count} steps": "{count} 步",
    "The turn paused after {steps}.": "本轮在 {steps}后暂停。",
    "The answer was cut off at {tokens} tokens.": "回答在 {tokens} 个 token 处被截断。",
    " Let it go on: {command}": "让它继续：{command}",
    "go on": "继续",
    "{window} did not open: {reason}": "{window} 没有打开：{reason}",
    "{window} is still opening after {seconds} s and is not saved.": (
        "{window} 在 {seconds} 秒后仍在打开，没有保存。"
    ),
    "Something went wrong: {what}": "出错了：{what}",
    "The output cannot be written: {reason}.": "无法写入输出：{reason}。",
    "{names} froze the program for {seconds} s, so it was ended. "
    "What was saved is kept: contextui -c resumes the session.": (
        "{names} 使程序冻结了 {seconds} 秒，程序已结束。已保存的内容都在：contextui -c 继续该会话。"
    ),
    "The program was frozen for {seconds} s, so it was ended. "
    "What was saved is kept: contextui -c resumes the session.": (
        "程序冻结了 {seconds} 秒，已结束。已保存的内容都在：contextui -c 继续该会话。"
    ),
    "{names} kept the program from ending, so it was stopped after {seconds} s. "
    "What was saved is kept.": (
        "{names} 使程序无法结束，{seconds} 秒后程序被停止。已保存的内容都在。"
    ),
    # before the turn
    "{model} needs {variable}. Set it, or take --model {offline}.": (
        "{model} 需要 {variable}。请设置它，或使用 --model {offline}。"
    ),
    "{model} ({origin}) needs {variable}. The offline model answers.": (
        "{model}（{origin}）需要 {variable}。由离线模型回答。"
    ),
    "{window} cannot be used: {reason}.": "{window} 无法使用：{reason}。",
    "The window {window} is left out: {reason}.": "窗口 {window} 被略去：{reason}。",
    "{file} has {count} characters; the model is told the first {most}.": (
        "{file} 有 {count} 个字符；只告诉模型前 {most} 个。"
    ),
    "{file} is left out. {error}": "{file} 被略去。{error}",
    "This session belongs to {folder} and works there.": "这个会话属于 {folder}，在那里工作。",
    "This session belongs to {folder}, which is gone: it goes on without files.": (
        "这个会话属于 {folder}，而它已不存在：会话继续，但没有文件可用。"
    ),
    "The session is open in another process. This is a copy of it.": (
        "该会话已在另一个进程中打开。这是它的副本。"
    ),
    "There is no session of {folder} yet; contextui alone, or with -p, begins one.": (
        "{folder} 还没有会话；单独运行 contextui，或加上 -p，即可开始。"
    ),
    "contextui sessions --all lists those there are.": "contextui sessions --all 会列出所有会话。",
    "This turn is not saved, or not whole: contextui -c goes on without what is missing.": (
        "这一轮没有保存，或没有保存完整：contextui -c 继续时会缺少这些内容。"
    ),
    "No session of {folder} can be read.": "{folder} 的会话都无法读取。",
    "There are sessions that cannot be read: {which}.": "有会话无法读取：{which}。",
    "Some entries of these sessions cannot be read and are left out: {which}.": (
        "这些会话中有条目无法读取，已略去：{which}。"
    ),
    "The current folder is gone. Go to another one.": "当前文件夹已不存在。请换一个。",
    "The app needs a terminal; contextui -p PROMPT answers without one.": (
        "应用需要终端；没有终端时请用 contextui -p PROMPT。"
    ),
    "This terminal cannot be drawn on (TERM is dumb); contextui -p PROMPT answers in it.": (
        "无法在这个终端上绘制（TERM 是 dumb）；请用 contextui -p PROMPT。"
    ),
}
