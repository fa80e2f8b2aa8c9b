// Frames of calls whose marks surround a name and its arguments. marks.ts has the table.

import { calls } from './grammars/calls.ts'
import { jsonArguments } from './grammars/json-arguments.ts'
import { fields } from './grammars/tags.ts'
import { mark } from './readers/cursor.ts'
import { gemmaSpelling, readLiteral } from './readers/literal.ts'
import { bar, nameAttribute, parameters } from './tag-marks.ts'

export const mistralNames = calls({
  bare: 'marked',
  begin: mark`\[TOOL_CALLS\]`,
  head: mark`~NAME~(?:\[CALL_ID\](?<id>[A-Za-z0-9_.:/-]{1,256}))?(?:\[ARGS\])?~`,
  why: "'[TOOL_CALLS]' must be followed by a tool's name and a JSON object",
})

/** The text in front of the arguments is the call's id, which contains the name. */
export const kimi = calls({
  open: mark`<\|tool_calls?_section_begin\|>`,
  close: mark`<\|tool_calls?_section_end\|>`,
  closeText: '<|tool_calls_section_end|>',
  bare: 'marked',
  begin: mark`<\|tool_call_begin\|>`,
  head: mark`\s*(?<id>(?:functions\.)?(?<name>[^\s<>]{1,256}?)(?::[0-9]{1,9})?)\s*<\|tool_call_argument_begin\|>~`,
  end: mark`~<\|tool_call_end\|>`,
  why: 'a call between its marks must be an id, its arguments as a JSON object, and nothing else',
})

/** The marks have several spellings. */
const deepseekMark = (words: string) =>
  mark`<${bar}{1,4}${new RegExp(words.replaceAll(' ', '(?:▁| |\\\\?_)'))}${bar}{1,4}>`
const deepseekEnd = deepseekMark('tool call end')
const deepseekName = deepseekMark('tool sep')
/** V3 and R1 have the name after the word and JSON in a fence. Step 3 has tags after the word. */
const deepseekWord = mark`~function~${deepseekName}~`

export const deepseek = calls({
  open: mark`${deepseekMark('tool calls begin')}`,
  close: mark`${deepseekMark('tool calls end')}`,
  closeText: '<｜tool▁calls▁end｜>',
  bare: 'marked',
  begin: mark`${deepseekMark('tool call begin')}`,
  forms: [
    {
      head: mark`${deepseekWord}<steptml:invoke${nameAttribute}~`,
      args: parameters('steptml:parameter', /steptml:/),
      end: mark`~</steptml:invoke>~${deepseekEnd}`,
    },
    // Not one head with alternatives: Node.js 22 allows the group `name` only once in an expression.
    ...['```', ''].flatMap((fence) =>
      [mark`${deepseekWord}NAME`, mark`(?!${deepseekWord}[^ \n\r\t{])~NAME~${deepseekName}`].map(
        (name) => ({
          head: mark`${name}~${fence && /```[^\n]*\n~/}`,
          end: mark`~${fence && /```~/}${deepseekEnd}`,
        }),
      ),
    ),
  ],
  why: 'a call between its marks must be a name and its arguments as a JSON object',
})

const harmonyName = mark`to=(?:functions\.)?(?<name>[A-Za-z0-9_.-]{1,256}) {0,8}`
/** The same without its group, which Node.js 22 allows only once in an expression. */
const harmonyTo = new RegExp(harmonyName.source.replace('?<name>', ''))
const harmonyStart = /<\|start\|>assistant/
const harmonyChannel = mark`<\|channel\|>(?:commentary|analysis) {0,8}`

/**
 * The recipient may precede the channel. Messages to nobody may stand between calls: thinking, and a
 * preamble for the user. The last mark is a stop token, so servers may remove it.
 */
export const harmony = calls({
  bare: 'marked',
  begin: mark`(?=(?:${harmonyStart} {0,8}|(?:${harmonyStart})?${harmonyChannel})${harmonyName})(?:(?:${harmonyStart})?${harmonyChannel}${harmonyTo}|${harmonyStart} {0,8}${harmonyTo}${harmonyChannel})`,
  head: mark`(?:<\|constrain\|>)?(?:json|code)? {0,8}<\|message\|>~`,
  end: mark`~(?:<\|call\|>|<\|end\|>)?`,
  why: "after '<|message|>' there must be its arguments as one JSON object",
  notes: {
    open: mark`(?:<\|start\|>assistant)?<\|channel\|>(?:commentary|(?<hidden>analysis)) {0,8}<\|message\|>`,
    close: '<|end|>',
    never: /<\|(?:start|channel|message|call)\|>/,
    isAnywhere: true,
  },
  begun: mark`<\|(?:start|channel)\|>(?:(?!<\|message\|>)[^{}]){0,300}$`,
})

/** Bare names, and texts between two marks `quote`. */
export const gemma = (open: string, close: string, quote: string) =>
  calls({
    bare: 'marked',
    begin: mark`${open}`,
    head: mark`call:NAME(?=\{)`,
    args: (cursor, repairs) => jsonArguments(readLiteral(cursor, gemmaSpelling(quote), repairs)),
    end: close,
    why: "a call between its marks must be 'call:', a tool's name and its arguments in braces",
  })

const k3Mark = /<\|(?:open|close|sep)\|>/

/** A channel for the user may precede the calls. Texts have no escapes and cannot contain the marks. */
export const kimiK3 = calls({
  open: mark`<\|open\|>tools<\|sep\|>`,
  close: '<|close|>tools<|sep|>',
  begin: mark`<\|open\|>call`,
  head: mark` {1,8}tool="(?<name>[^"<>]{1,256})"(?: {1,8}index="[0-9]{1,9}")? {0,8}<\|sep\|>~`,
  args: fields({
    field: mark`<\|open\|>argument {1,8}key="(?<key>[^"<>]{1,256})" {1,8}type="(?:(?<string>string)|(?<json>[a-z]{1,16}))" {0,8}<\|sep\|>`,
    end: '<|close|>argument<|sep|>',
    never: k3Mark,
    isEscaped: true,
    orJson: {
      open: mark`<\|open\|>json(?: {1,8}type="object")? {0,8}<\|sep\|>~(?=\{)`,
      close: mark`~<\|close\|>json<\|sep\|>`,
    },
  }),
  end: mark`~<\|close\|>call<\|sep\|>`,
  isEscaped: true,
  why: "'<|open|>tools<|sep|>' must hold calls, each with its arguments, all of them closed, and nothing else",
  notes: {
    open: mark`<\|open\|>response<\|sep\|>`,
    close: '<|close|>response<|sep|>',
    never: k3Mark,
  },
})

/** Solar Open (vLLM solar_open_tool_parser.py). */
export const solar = calls({
  bare: 'marked',
  begin: mark`(?:<\|tool_calls\|>)?<\|tool_call:begin\|>`,
  head: mark`~(?<id>[A-Za-z0-9_-]{0,256})~<\|tool_call:name\|>~NAME~<\|tool_call:args\|>~`,
  end: mark`~<\|tool_call:end\|>`,
  why: 'a call between its marks must be an id, a name and its arguments as a JSON object',
})

const plamoMark = (word: string) => new RegExp(`<\\|plamo:${word}:plamo\\|>`)

/** PLaMo 3 */
export const plamo = calls({
  open: mark`${plamoMark('begin_tool_requests')}`,
  close: mark`${plamoMark('end_tool_requests')}`,
  closeText: '<|plamo:end_tool_requests:plamo|>',
  bare: 'marked',
  begin: mark`${plamoMark('begin_tool_request')}`,
  head: mark`~${plamoMark('begin_tool_name')}~NAME~${plamoMark('end_tool_name')}~${plamoMark('begin_tool_arguments')}~(?:<\|plamo:constrain\|>json)?(?:<\|plamo:msg\|>)?~`,
  end: mark`~${plamoMark('end_tool_arguments')}~${plamoMark('end_tool_request')}`,
  why: 'a call between its marks must be a name and its arguments as a JSON object',
})

/** Inkling (llama.cpp). The name stands in front of the mark too. */
export const inkling = calls({
  bare: 'marked',
  begin: mark`(?:<\|message_model\|>)?[A-Za-z0-9_.:/-]{0,256}<\|content_invoke_tool_json\|>`,
  head: mark`~\{~"name"~:~"NAME"~,~"args"~:~`,
  end: mark`~\}~<\|end_message\|>`,
  begun: mark`<\|message_model\|>[^{}]{0,300}$`,
  why: "after '<|content_invoke_tool_json|>' there must be an object with 'name' and 'args'",
})

/** Functionary 2 and 3.2 */
export const functionary = [
  calls({
    bare: 'marked',
    begin: mark`(?:<\|from\|>assistant~)?<\|recipient\|>`,
    head: mark`~NAME~<\|content\|>~(?=\{)`,
    end: mark`~(?:<\|stop\|>)?`,
    begun: mark`<\|(?:from|recipient)\|>[^{}]{0,300}$`,
    why: "after '<|content|>' there must be its arguments as one JSON object",
  }),
  calls({
    bare: 'plain',
    begin: mark`>>>NAME\r?\n(?=\{)`,
    begun: mark`>>>[A-Za-z0-9_.:/-]{0,256}\s{0,2}$`,
    why: "after '>>>' and a name there must be its arguments as one JSON object",
  }),
]

/** Qwen-Agent with Qwen 2 */
export const qwenAgent = calls({
  bare: 'marked',
  begin: mark`✿FUNCTION✿`,
  head: mark`:~NAME~✿ARGS✿:~`,
  end: mark`~(?:✿RESULT✿:?)?`,
  why: "after '✿ARGS✿:' there must be its arguments as one JSON object",
})
