// Texts with special tokens of calls, in many languages. The expectations were written before the
// first run. `offered.ts` has the tools.

import { describe, expect, it } from '@jest/globals'
import { unrunnable } from '../../../../../services/accumulator/dialects/unrunnable.ts'
import { offered } from '../offered.ts'

const kimi =
  '<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "weir"}<|tool_call_end|><|tool_calls_section_end|>'
const deepseek =
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{"query": "weir"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
const dsml =
  '<｜DSML｜tool_calls><｜DSML｜invoke name="search"><｜DSML｜parameter name="query" string="true">weir</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>'

const found = (text: string) => unrunnable(text, offered)?.hold

describe('prose about the tokens of calls is no call', () => {
  it.each([
    // Chinese
    'Kimi K2用<|tool_calls_section_begin|>和<|tool_calls_section_end|>包裹所有调用。',
    'DeepSeek 的工具调用以<｜tool▁calls▁begin｜>开头，以<｜tool▁calls▁end｜>结尾。',
    '解析器遇到<｜DSML｜invoke name="search">时才开始读取参数，遇到</｜DSML｜invoke>时结束。',
    '开始标记：<|tool_call_begin|>\n结束标记：<|tool_call_end|>\n两者必须成对出现。',
    '如果<|tool_call|>没有闭合，服务器会把整段文本当作回答。',
    '标记“<｜tool▁sep｜>”用来分隔名称和参数。',
    '「<|tool_call_argument_begin|>」之后是 JSON 参数。',
    '格式为<|tool_call_begin|>函数名<|tool_call_argument_begin|>参数<|tool_call_end|>，不能换行。',
    // Japanese
    'Kimiは<|tool_call_begin|>で呼び出しを始め、<|tool_call_end|>で終えます。',
    '開始トークンは<｜tool▁calls▁begin｜>です。',
    'パーサーは「<|tool_call|>」を探します。見つからない場合は本文として扱います。',
    '<|tool_calls_section_begin|>は必ず行頭に現れます。',
    '順番は<|tool_call_begin|>、名前、<|tool_call_argument_begin|>、引数の順です。',
    // Korean
    '<|tool_call_begin|>은 호출을 시작하고 <|tool_call_end|>는 호출을 끝냅니다.',
    '모델이 <｜tool▁calls▁begin｜>를 쓰지 않으면 일반 텍스트입니다.',
    '토큰 <|tool_call|>(시작)과 <|/tool_call|>(끝)이 필요합니다.',
    // Russian
    'Токен <|tool_call_begin|> открывает вызов, а <|tool_call_end|> его закрывает.',
    'Если <｜DSML｜tool_calls>-блок не закрыт, парсер вернёт текст.',
    'Модель пишет «<|tool_calls_section_begin|>» перед каждым списком вызовов.',
    // Arabic
    'يبدأ الاستدعاء بالرمز <|tool_call_begin|> وينتهي بالرمز <|tool_call_end|>.',
    'الرمز <|tool_call|>، كما في Phi، يفتح الاستدعاء.',
    // lists and headings
    '- <|tool_calls_section_begin|>\n- <|tool_call_begin|>\n- <|tool_call_end|>',
    '1. <|tool_call_begin|>\n2. the id of the call\n3. <|tool_call_end|>',
    '* <｜tool▁calls▁begin｜>：开始\n* <｜tool▁calls▁end｜>：结束',
    '- Kimi: <|tool_call_begin|>\n- Phi-4: <|tool_call|>',
    '### <|tool_call_begin|>\n\nIt opens one call.\n\n### <|tool_call_end|>\n\nIt closes the call.',
    '**<|tool_call_begin|>**\n\nIt opens one call.',
    '- **<|tool_call_begin|>** — opens one call\n- **<|tool_call_end|>** — closes it',
    '<|tool_call_begin|> → opens one call\n<|tool_call_end|> → closes it',
    '<|tool_call_begin|> = 163597\n<|tool_call_end|> = 163599',
    'The new tokens of the vocabulary:\n\n<|tool_call_begin|>\n<|tool_call_end|>\n\nBoth are special.',
    `- Kimi: ${kimi}\n- DeepSeek: ${deepseek}`,
    // code without a fence
    'if text.startswith("<|tool_call_begin|>"):\n  return parse(text)',
    "TOKENS = ['<|tool_call|>', '<|/tool_call|>']",
    'const open = "<｜tool▁calls▁begin｜>"; const close = "<｜tool▁calls▁end｜>"',
    'grep -c "<|tool_call_begin|>" out.log',
    // documentation of chat templates
    "{%- if message.tool_calls -%}<|tool_calls_section_begin|>{%- for call in message.tool_calls -%}<|tool_call_begin|>{{ call['id'] }}<|tool_call_argument_begin|>{{ call.arguments }}<|tool_call_end|>{%- endfor -%}",
    'The template renders <|tool_call_begin|>{id}<|tool_call_argument_begin|>{arguments}<|tool_call_end|> for each call.',
    'Each call is <|tool_call|>...<|/tool_call|> in one line.',
    `模板把调用写成${kimi}，其中 0 是序号。`,
    `例如：\n\n${deepseek}`,
    `次の形式です：\n\n${kimi}`,
    `Пример:\n\n${dsml}`,
    // written after the mend, before their own first run
    '模型输出`<|tool_call_begin|>`之后，还会输出<|tool_call_argument_begin|>。',
    '在 tokenizer_config.json 里，<｜tool▁calls▁begin｜> 的编号是 128806。',
    '请注意<｜tool▁outputs▁begin｜>与<｜tool▁calls▁begin｜>的区别！',
    '特殊标记包括：<|tool_calls_section_begin|>、<|tool_calls_section_end|>、<|tool_call_begin|>。',
    '问：<|tool_call_begin|>是什么？答：它是开始标记。',
    '（<|tool_call_begin|>）',
    '《<|tool_call|>》标记',
    '我修好了解析器：现在遇到<|tool_call_end|>就会停止。测试全部通过。',
    '<|tool_call|>トークンが出力されたらパースを開始してください。',
    'つまり、<｜DSML｜tool_calls>～</｜DSML｜tool_calls>の間です。',
    '・<|tool_call_begin|>：開始\n・<|tool_call_end|>：終了',
    '| 토큰 | 뜻 |\n|--|--|\n| <|tool_call_begin|> | 시작 |',
    'Парсер ищет <|tool_call_begin|>; если его нет, текст возвращается целиком.',
    'Токены:\n— <|tool_call_begin|>\n— <|tool_call_end|>',
    'I fixed the bug: the parser now stops at <|tool_call_end|>',
    'The regex is <\\|tool_call_begin\\|>(.*?)<\\|tool_call_end\\|>.',
    'self.bot = "<|tool_calls_section_begin|>"  # opening\nself.eot = "<|tool_calls_section_end|>"',
    'print(f"<|tool_call|>{json.dumps(call)}<|/tool_call|>")',
    'Use <|tool_call|>\\n{...}\\n<|/tool_call|> as the layout.',
    'a) <|tool_call_begin|> opens\nb) <|tool_call_end|> closes',
    '  • <|tool_call_begin|>\n  • <|tool_call_end|>',
    'tokens.json:\n"<|tool_call_begin|>": 163597,\n"<|tool_call_end|>": 163599',
    '<!-- <|tool_call|> is rendered here -->',
    'The stop words are [<|tool_call_end|>, <|im_end|>].',
    'vLLM checks whether <|tool_calls_section_begin|> is in the text. If it is, it parses the calls.',
    'Which token begins a call? It is <|tool_call_begin|>!',
    'Le jeton <|tool_call_begin|> ouvre un appel ; <|tool_call_end|> le ferme.',
    'Das Token <|tool_call_begin|>-Paar steht in der Vorlage.',
    'Die Marke „<|tool_call_begin|>“ eröffnet den Aufruf.',
    'El modelo escribe «<|tool_call_begin|>» y después el nombre.',
    '¿Qué hace <|tool_call_begin|>? Abre la llamada.',
    'Mô hình viết <|tool_call_begin|> trước mỗi lệnh gọi.',
    'โมเดลใช้<|tool_call_begin|>เพื่อเริ่ม',
    'मॉडल <|tool_call_begin|> से शुरू करता है।',
    'הסימן <|tool_call_begin|> פותח קריאה.',
    'The order: <|tool_calls_section_begin|>, then <|tool_call_begin|>, then the id.',
    'Step 1: emit <|tool_call_begin|>\nStep 2: emit the id\nStep 3: emit <|tool_call_end|>',
    'The template:\n\n<|im_start|>assistant\n<|tool_call_begin|>{{ name }}<|tool_call_end|><|im_end|>',
    'Template: <|tool_call_begin|>$NAME<|tool_call_argument_begin|>$ARGS<|tool_call_end|>',
    '1) <|tool_call_begin|>\n2) <|tool_call_end|>',
    'Mistral writes [TOOL_CALLS] before the list of its calls.',
    'The template renders [TOOL_CALLS][...] for each answer.',
    'The token "[TOOL_CALLS]" has the number 9.',
    'It is `[TOOL_CALLS]search[ARGS]{"query": "weir"}` since version 11.',
    'See [TOOL_CALLS](https://docs.mistral.ai) for the token.',
  ])('%s', (text) => expect(found(text)).toBeUndefined())
})

describe('a call that the text writes is reported', () => {
  it.each([
    `我来查一下。${kimi}`,
    `我来查一下${deepseek}`,
    `让我搜索：\n${dsml.replace('</｜DSML｜tool_calls>', '')}`,
    '我来查一下。\n\n<｜tool▁calls▁begin｜>',
    '我来查一下<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{"query": "天气"',
    `<｜DSML｜invoke name="search">\n<｜DSML｜parameter name="query" string="true">北京天气</｜DSML｜parameter>`,
    '確認します。<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "堰"}',
    '검색하겠습니다.<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0',
    `Сейчас посмотрю. ${kimi.replace('<|tool_calls_section_end|>', '')}`,
    `سأبحث الآن. ${kimi.slice(0, -10)}`,
    'Let me check.\n\n<|tool_calls_section_begin|>',
    'Let me check:\n<｜DSML｜function_calls',
    `Let me check: ${kimi}`,
    `I look it up ${deepseek}`,
    `${kimi}\n\nI wait for the result.`,
    `${dsml} Done.`,
    '<|tool_call_begin|> functions.search:0 <|tool_call_argument_begin|> {"query": "weir"}',
    'I look it up.\n<|tool_call_begin|>search\n{"query": "weir"}<|tool_call_end|>',
    '{"query": "weir"}<|tool_call_end|><|tool_calls_section_end|>',
    'functions.search:0<|tool_call_argument_begin|>{"query": "weir"}',
    'I look it up.\n<|tool_call|>[{"name": "search", "arguments": {"query": "weir"}}]<|/tool_call|> ok',
    '<|tool_call>call:search{query:<|"|>weir<|"|>}<tool_call|>. I wait.',
    'I look.\n[TOOL_CALLS]search[ARGS]{"query": "weir"}\nThe result follows.',
    '[TOOL_CALLS] [{"name": "search", "arguments": {"query": "weir"}}] ok',
    'I look it up. [TOOL_CALLS]search[ARGS]{"query": "weir"}',
    'I look it up [TOOL_CALLS][{"name": "search", "arguments": {"query": "weir"}}]',
    'Let me check: [TOOL_CALLS]search{"query": "weir"',
    'Je regarde. [TOOL_CALLS]',
    '<|python_tag|>search.call(query="weir")',
    '<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"query": "weir"}<|call|> ok',
    '<|start|>assistant to=functions.search<|channel|>commentary json<|message|>{"query": "weir"',
    '<|open|>tools<|sep|><|open|>call tool="search" index="1"<|sep|>',
    'I look.]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="search">',
    '1. Search the site.\n2. Read it.\n\n<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0',
    `The file says "weir". ${kimi.slice(0, 60)}`,
    '<||DSML||invoke name="search"><||DSML||parameter name="query" string="true">weir</||DSML||parameter>',
    '<| tool_calls_begin |>search',
    'I will search now.<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query"',
    '好的，我来搜索<|tool_calls_section_begin|>',
    '好的，我来搜索：<｜DSML｜tool_calls>\n<｜DSML｜invoke name="search">\n',
    '検索します<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{"query": "堰"}\n```',
    'Done with step one!<|tool_call_begin|>search{"query": "x"}',
    '好的<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "天气"}<|tool_call_end|>',
    '<｜DSML｜invoke name="search">\n{"query": "天气"}\n</｜DSML｜invoke>等结果。',
    '<|tool_call_argument_begin|>{"query": "x"}',
    'I search.\n\n<|tool_call_start|>[search(query="x")]<|tool_call_end|>Let me wait.',
    'ok <|action_start|><|plugin|>{"name": "search", "parameters": {"query": "x"}}<|action_end|>\nwait',
  ])('%s', (text) => expect(found(text)).toBe('frame'))
})
