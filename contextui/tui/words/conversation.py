"""Chinese translations for the conversation and the prompt."""

CHINESE: dict[str, str] = {
    "save code": "保存代码",
    "The last answer has no code block of more than 10 lines.": (
        "上一个回答没有超过 10 行的代码块。"
    ),
    "Saved {names}. The window code lists it.": "已保存 {names}。code 窗口会列出它。",
    "Its code is saved already.": "它的代码已经保存过了。",
    "Say what you want, or / for commands": "说出你想做的事，或输入 / 看命令",
    "You and the model look at the same windows and change them by the same "
    "actions. The inspector lists everything the model sees, item by item, and "
    "what it costs. Nothing is ever lost.": "你和模型看着同一组窗口，用同样的操作改动它们。"
    "检查器逐条列出模型看到的一切，以及各占多少 token。什么都不会丢。",
    "Try one: ↓ and Enter, or click": "试一个：按 ↓ 再按 Enter，或点击",
    "Make a todo list with milk, eggs and bread": "建一个待办：牛奶、鸡蛋、面包",
    "Open README.md in the editor": "在编辑器里打开 README.md",
    "Show me the files here": "看看这里有哪些文件",
    "How busy is this machine?": "这台机器有多忙？",
    "What do you see right now?": "你现在看到了什么？",
    "No model is connected. The built-in offline one understands simple wishes. "
    "Set ANTHROPIC_API_KEY or type /model.": "没有连接模型：内置的离线模型只懂简单的愿望。"
    "设置 ANTHROPIC_API_KEY 或输入 /model 即可连接。",
    "{count} more characters": "还有 {count} 个字符",
    "{count} more lines, a click shows them": "还有 {count} 行，点击显示",
    "{count} more characters: the inspector has them": "还有 {count} 个字符，见检查器",
    "The log cannot be read: {reason}": "无法读取日志：{reason}",
    "↑ {count} earlier, Home or a click shows them": "↑ 之前还有 {count} 条，按 Home 或点击显示",
    "unfold calls": "展开调用",
    "copy answer": "复制回答",
    "copy the last answer": "复制最后的回答",
    "Nothing was answered yet.": "还没有回答。",
    "all keys and commands": "所有按键和命令",
    "say it": "说出来",
    "working": "工作中",
    "thinking": "思考中",
    "answering": "回答中",
    "acting": "执行中",
    "waits for you": "等你决定",
    "{doing} {seconds}s   step {step}   {tokens} tokens": (
        "{doing} {seconds} 秒   第 {step} 步   {tokens} token"
    ),
    "{doing} {seconds}s": "{doing} {seconds} 秒",
    "next try in {seconds}s": "{seconds} 秒后重试",
    "Stopped.": "已停止。",
    "{why} Enter retries, ↑ has your words again.": "{why} Enter 重试，↑ 取回你的话。",
    "Go on.": "继续。",
    "stops": "停止",
    "asks before writing": "写入前询问",
    "writes without asking": "写入时不询问",
    "never writes": "从不写入",
    "↓ {count} new lines": "↓ {count} 行新内容",
    "waits for the turn to end   ↑ changes the last one": "等待这一轮结束   ↑ 修改最后一条",
    "not sent, as the turn before it did not end   ↑ takes the last one back": (
        "未发送：前一轮没有完成   ↑ 取回最后一条"
    ),
}
