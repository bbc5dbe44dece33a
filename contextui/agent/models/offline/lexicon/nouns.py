"""What people speak of, in everyday words: one group to a line, English | Chinese."""

NOUNS = """
list: list, checklist | 清单 列表 单子 名单 表 单
task: todo, to-do, to do, task, chore, errand, to-dos | 待办 任务 事项 待办事项 要做的事 事
    要办的事 活儿
item: item, thing, element, object, product, article | 项 条目 项目 东西 物品 一项 选项 商品
entry: entry, record, row | 条目 记录 条 条记录 一条
note: note, memo, remark, comment, jotting, sticky note, jot, jot down, note down | 备注
    附注 笔记 便签 记事 备忘 便条 备忘录 随笔 记一下
notebook: notebook, journal, diary, notepad, logbook | 笔记本 记事本 日记 日志 本子 日记本
file: file, document, doc | 文件 文档 档案
folder: folder, directory, dir | 文件夹 目录
path: path, location | 路径 位置
editor: editor, text editor | 编辑器 文本编辑器 编辑窗口
code: code, snippet, source, program, script | 代码 源码 程序 脚本 代码片段
workspace: workspace, project | 工作区 项目 工程 工作空间
tree: tree | 树 树形
text: text, wording | 文本 文字 内容 文
line: line, row | 行
page: page | 页 页面 页码
street: street, road, avenue | 街道 街 马路
recipient: recipient, receiver, addressee | 收货人 收件人 接收人
delivery: delivery, shipping, shipment | 配送 送货 快递 运送 发货
word: word, vocabulary, term | 单词 词 词语 生词 词汇
letter: letter, character | 字母 字符 信
name: name | 名字 名称 姓名 名
title: title, heading, headline | 标题 题目 抬头
description: description, explanation | 描述 说明 简介
summary: summary, abstract, recap | 摘要 总结 概要 小结 总结一下
gist: gist, core, essence | 要点 主旨 大意
content: content | 内容
topic: topic, subject, theme, matter | 主题 话题 题目 议题
message: message | 消息 信息 留言 短信
mail: mail, email, e-mail | 邮件 电子邮件 信件
chat: chat, conversation, talk | 聊天 对话 谈话
question: question | 问题 提问
answer: answer, solution | 答案 回答
quiz: quiz, test, exam, trivia | 测验 测试 考试 问答
tag: tag, label, keyword | 标签 标记 关键词
category: category, kind, type, sort, class | 类别 种类 分类 类型 类
language: language, lang | 语言
window: window, panel, pane, view | 窗口 窗 面板 视窗
board: board, kanban, whiteboard | 看板 板 白板 面板 记分板
card: card, flashcard, flash card | 卡片 卡 牌
column: column, lane, stage | 列 栏 阶段
status: status, state, condition | 状态 情况 状况
priority: priority, urgency, importance | 优先级 紧急程度 重要性
level: level, grade, degree | 级别 等级 程度 级
high: high, urgent, important, top | 高 紧急 重要
medium: medium, middle, mid, normal, moderate | 中 中等 普通 一般 中间
low: low, unimportant | 低
big: big, large, great, huge | 大 巨大
small: small, little, tiny | 小
fast: fast, quick, rapid | 快 快速
slow: slow | 慢
new: new, fresh, create | 新 新的 新建 创建 新增
old: old, former | 旧 老 原来的
hot: hot | 热
cold: cold | 冷
warm: warm, cozy | 暖 暖和 温暖
cool: cool | 凉 凉爽
bright: bright, brightness, brightly | 亮度 亮 明亮
dark: dark, darkness | 暗 黑暗
loud: loud, volume, loudness, sound | 音量 声音 响
machine: machine, computer, system, pc, laptop, device, server | 电脑 机器 计算机 系统 设备 主机
    服务器
monitor: monitor, monitoring, watch, observer | 监控 监视 监视器 监测 监控器
process: process, program, app, application | 进程 程序 应用
memory: memory, ram | 内存 记忆
disk: disk, disc, drive, storage, hard drive | 磁盘 硬盘 存储
network: network, net, internet, traffic | 网络 网 流量 互联网
cpu: cpu, processor, core | 处理器 中央处理器
load: load, busy, workload | 负载 负荷 繁忙 忙
figure: figure, number, value, metric, statistic, stat | 数字 数值 指标 数据 统计
argument: argument, option, flag | 参数 选项
sample: sample, sampling, reading | 样本 采样 取样
timer: timer, countdown, stopwatch | 计时器 定时器 倒计时 秒表 计时
clock: clock, alarm, watch | 时钟 钟 闹钟 表
calendar: calendar, agenda, schedule, planner | 日历 日程 日程表 行事历
event: event, appointment, meeting, date | 事件 活动 约会 会议 预约
reminder: reminder | 提醒
date: date, day | 日期 日子
day: day, daily | 天 日 每天
week: week, weekly | 周 星期 每周 礼拜
month: month, monthly | 月 每月
year: year, yearly | 年 每年
hour: hour, hourly, hr, hrs | 小时 钟头 个小时
minute: minute, min, mins | 分钟 分
second: seconds, sec, secs, s | 秒 秒钟
today: today | 今天
tomorrow: tomorrow | 明天
yesterday: yesterday | 昨天
monday: monday | 星期一 周一
tuesday: tuesday | 星期二 周二
wednesday: wednesday | 星期三 周三
thursday: thursday | 星期四 周四
friday: friday | 星期五 周五
saturday: saturday | 星期六 周六
sunday: sunday | 星期日 星期天 周日
time: time | 时间
duration: duration, length, long | 时长 持续时间
light: light, lamp, bulb, lighting | 灯 电灯 灯光 台灯 照明 灯泡
room: room | 房间 屋子 屋
kitchen: kitchen | 厨房
bedroom: bedroom | 卧室
livingroom: living room, lounge, living-room | 客厅 起居室
bathroom: bathroom | 浴室 卫生间 洗手间
office: office, study | 办公室 书房
hall: hall, corridor, hallway | 走廊 门厅
garden: garden, yard | 花园 院子
garage: garage | 车库
home: home, house, apartment | 家 房子 住所
max: max, maximum, highest, strongest, full, fully | 最大 最高 最强 满 最多
min: min, minimum, lowest, weakest, mute | 最小 最低 最弱 最少
quiet: quiet, silent, soft, gentle | 安静 静音 轻柔
strong: strong, powerful, heavy | 强 强力 强劲
door: door, gate | 门 大门
keypad: keypad, keyboard, buttons | 键盘 按键 小键盘
eco: eco, economy, economical, energy saving, power saving, saving mode | 节能 省电 环保 经济 节电
comfort: comfort, comfortable, cosy | 舒适 舒服
auto: auto, automatic, automatically | 自动
manual: manual, by hand | 手动
temperature: temperature, thermostat, heating, heat | 温度 恒温器 暖气 气温
degree: degree, celsius | 度 摄氏度
percent: percent, percentage, per cent | 百分比 百分之
color: color, colour | 颜色 色
red: red | 红 红色
green: green | 绿 绿色
blue: blue | 蓝 蓝色
yellow: yellow | 黄 黄色
white: white | 白 白色
black: black | 黑 黑色
orange: orange | 橙色 橘色
purple: purple, violet | 紫 紫色
pink: pink | 粉色 粉红
brown: brown | 棕色 褐色
gray: gray, grey | 灰 灰色
counter: counter, tally | 计数器 计数
dice: dice, die | 骰子 色子
coin: coin | 硬币
number: number | 数字 号码 号 数
amount: amount, quantity, sum, total | 金额 数量 总数 总额 量
count: count, how many | 个数 次数 数目
price: price, cost | 价格 价钱
money: money, cash, dollar, euro, buck, yuan, pound, rmb | 钱 元 块 块钱 美元 欧元 人民币
budget: budget, finance, account, balance | 预算 账户 账本 余额 账目 账
expense: expense, expenditure, spending, cost | 支出 开销 花费 费用 消费
income: income, salary, wage | 收入 工资
shopping: shopping, grocery, groceries, purchase | 购物 采购 买东西 杂货 买菜
cart: cart, basket, trolley, shopping cart | 购物车 篮子
stock: stock, inventory, supply, pantry, store | 库存 存货 存量
order: order | 订单 顺序
food: food, meal, dish | 食物 饭菜 菜 吃的
recipe: recipe | 食谱 菜谱
ingredient: ingredient | 配料 食材 原料
water: water, hydration | 水
coffee: coffee | 咖啡
tea: tea | 茶
glass: glass, cup | 杯 杯子
milk: milk | 牛奶
bread: bread | 面包
egg: egg | 鸡蛋
book: book, novel | 书 书籍 图书 小说
reading: reading, read | 阅读 读书
author: author, writer | 作者
library: library, bookshelf, shelf | 图书馆 书架 书库
song: song, track, tune | 歌 歌曲 曲子
music: music, player, playlist | 音乐 播放器 播放列表 歌单
movie: movie, film, video | 电影 影片 视频
picture: picture, image, photo | 图片 照片 图像 图
game: game, match | 游戏 比赛
score: score, point, mark | 分 分数 得分 比分 点数
player: player, participant | 玩家 选手 球员
team: team, side, group | 队 团队 球队 小组
winner: winner, leader | 赢家 冠军
round: round, lap | 轮 局 圈 回合
move: move, turn | 步 招
person: person, people, somebody, human | 人 人们 人物
friend: friend | 朋友
contact: contact, address book, phone book | 联系人 通讯录
customer: customer, client | 客户 顾客
guest: guest, visitor | 客人 来宾
member: member | 成员 会员
owner: owner, assignee | 负责人 拥有者 主人
phone: phone, telephone, phone number | 电话 手机 电话号码
address: address | 地址
place: place, position, spot, rank | 位置 地方 地点 位 名次
city: city, town | 城市
country: country | 国家
trip: trip, travel, journey, itinerary | 旅行 行程 旅程
flight: flight, plane | 航班 飞机
train: train | 火车
car: car, vehicle | 车 汽车 车辆
weather: weather, forecast | 天气 天气预报
map: map | 地图
plant: plant, flower | 植物 花 盆栽
pet: pet, animal | 宠物 动物
cat: cat | 猫
dog: dog | 狗
tree_plant: bush | 灌木
habit: habit, routine, streak | 习惯
goal: goal, target, aim, objective | 目标 目的
plan: plan, outline, roadmap | 计划 方案 规划
project: project | 项目 工程
idea: idea, thought | 想法 主意 点子 灵感
decision: decision, choice | 决定 选择 决策
problem: problem, issue, bug, error, trouble | 问题 错误 故障 毛病
bug: bug, ticket, issue | 缺陷 工单 漏洞
poll: poll, vote, survey, ballot | 投票 调查 问卷 民调
option: option, choice, alternative, candidate | 选项 候选 选择
health: health, fitness | 健康 健身
weight: weight | 体重 重量
sleep: sleep | 睡眠
exercise: exercise, workout, training, sport | 锻炼 运动 训练
step: step | 步骤 步 步数
medicine: medicine, pill, medication | 药 药品
mood: mood, feeling | 心情 情绪
lesson: lesson, course, class | 课 课程
school: school, homework | 学校 作业
work: work, job | 工作
speed: speed, pace, rate | 速度 速率
size: size | 大小 尺寸
distance: distance | 距离
unit: unit | 单位
key: key | 键 钥匙
password: password | 密码
link: link, url, website, bookmark | 链接 网址 书签 网站
device: device, gadget, appliance | 设备 装置 电器
sensor: sensor | 传感器
fan: fan | 风扇
tv: tv, television | 电视 电视机
curtain: curtain, blind, shade | 窗帘
camera: camera | 相机 摄像头
robot: robot, vacuum | 机器人 扫地机
elevator: elevator, lift | 电梯
floor: floor, storey | 楼 楼层 层
queue: queue, waiting list | 队列 排队
log: log, history | 日志 历史 记录
setting: setting, preference, configuration, option | 设置 选项 偏好
mode: mode | 模式
theme: theme, style | 主题 风格
font: font | 字体
table: table, spreadsheet, grid | 表格 表
cell: cell | 单元格
chart: chart, graph, plot, diagram | 图表 曲线
calculator: calculator | 计算器
translator: translator | 翻译器
dictionary: dictionary, glossary | 词典 字典
search: search | 搜索
case: case, letter case | 大小写
begin: beginning, start, top, head, front | 开头 开始 顶部 顶端 最前面 最前 最上面 前面 首位
finish: end, bottom, tail, back | 结尾 末尾 底部 最后面 最下面 末端 最后
sticker: sticker | 贴纸
gift: gift, present | 礼物
party: party, celebration | 聚会 派对
birthday: birthday | 生日
wish: wish | 愿望 心愿
seat: seat, chair | 座位
ticket: ticket | 票 门票
bill: bill, invoice, receipt | 账单 发票 收据
tip: tip | 小费
debt: debt, loan | 债务 欠款
bank: bank | 银行
saving: savings, piggy bank | 储蓄 存钱罐
"""
