"""The Chinese of what the actions of the built-in windows are about."""

CHINESE: dict[str, str] = {
    # code
    "Save code under an id: new, or in place of what has the id": "用一个 id 保存代码，新建或替换",
    "Show the code of an id, with line numbers": "显示某个 id 的代码，带行号",
    "Show the list alone again": "只显示列表",
    "Turn to a page of the code, or of the list while no code is shown": "翻到代码或列表的某一页",
    "Delete the code of an id": "删除某个 id 的代码",
    # editor
    "Find text, from here on": "从这里往后查找文字",
    "Replace exact text; it must occur once, or count times": "替换原文，须恰好出现一次或 count 次",
    "Show the page that begins with a line": "显示从某一行开始的一页",
    "Show the next page; pages=-1: the one before": "显示下一页；pages=-1 为上一页",
    "Insert lines before a line; after the last to append": "在某行之前插入，最后一行之后为追加",
    "Replace lines, first to last": "替换从 first 到 last 的行",
    "Delete lines, first to last": "删除从 first 到 last 的行",
    "Replace characters, counted from 0, if the text has this revision": (
        "按从 0 数起的位置替换字符，须是这个修订版"
    ),
    "Show the unsaved edits as a diff": "以差异显示未保存的改动",
    "Save as a new file, and go on in that": "另存为新文件并继续编辑它",
    "Read the file again; discard unsaved edits, or keep those that fit": (
        "重新读取文件；放弃未保存的改动，或保留仍适用的"
    ),
    "Open another file here; new: begin one; discard: drop unsaved edits": (
        "在这里打开另一个文件；new 新建，discard 放弃改动"
    ),
    # files
    "Open a file in an editor, or expand a folder": "在编辑器中打开文件，或展开文件夹",
    "Show what is in a folder, within the tree": "在树中显示文件夹的内容",
    "Show a folder as one line again": "把文件夹收成一行",
    "Show one folder alone": "只显示一个文件夹",
    "Show the folder above": "显示上一级文件夹",
    "Turn to a page": "翻到某一页",
    "Find names that contain a text, or fit a pattern with * and ?": (
        "查找含有某段文字或符合 * ? 模式的名称"
    ),
    "Find lines of files that contain a text": "查找文件中含有某段文字的行",
    "Show the tree as it is now, without what was found": "显示当前的树，不含查找结果",
    # monitor
    "Take a sample every so many seconds": "每隔若干秒采样一次",
    "Choose what is shown": "选择显示什么",
    "Show the top processes; 0 shows none": "显示最忙的进程，0 为不显示",
    "Show the arguments of processes, secrets masked, or hide them": (
        "显示或隐藏进程的参数，密钥会被遮住"
    ),
    "Take no more samples": "停止采样",
    "Go on taking samples": "继续采样",
    "Take a sample now": "立即采样",
    # notebook
    "Write an entry; gist and summary are made from the text unless given": (
        "写一条笔记；不给要点和摘要时由正文生成"
    ),
    "Change an entry; an empty gist or summary is made from the text again": (
        "修改笔记；空的要点或摘要由正文重新生成"
    ),
    "Delete an entry": "删除一条笔记",
    "Add tags to an entry": "给笔记加标签",
    "Take tags from an entry": "去掉笔记的标签",
    "Show an entry whole": "显示整条笔记",
    "Show only the summary of an entry": "只显示一条笔记的摘要",
    "Show all entries whole, those of the filter if there is one": (
        "显示全部笔记，有筛选时为筛选出的"
    ),
    "Show only the summaries": "只显示摘要",
    "Show only entries with this tag; without one, all": "只显示有此标签的笔记，不给则全部",
    "Find entries by words in text, gist, summary or tags": "按正文、要点、摘要或标签查找笔记",
    "Keep the entries in the project, as .contextui/notebook.json, or no longer": (
        "把笔记存入项目的 .contextui/notebook.json，或不再存"
    ),
    # todo
    "Add one item, or several": "添加一项或多项",
    "Find items by text": "按文字查找",
    "Mark as done, by id or text": "标为完成，按 id 或文字",
    "Mark as not done, by id or text": "标为未完成，按 id 或文字",
    "Change the text of an item": "修改一项的文字",
    "Delete an item": "删除一项",
    "Move an item to a place, 1 is the first": "把一项移到某个位置，1 为第一",
    "Delete everything that is done": "删除所有已完成的",
}
