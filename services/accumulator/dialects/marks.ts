// The table of dialects: the marks of each model family, and the grammar between them. Sources
// are the chat templates and the parsers of vLLM (tool_parsers), SGLang (function_call) and llama.cpp
// (models/templates).

import type { Dialect, Grammar, Reading } from './dialect.ts'
import { calls } from './grammars/calls.ts'
import { json } from './grammars/json.ts'
import { bareJson, jsonArguments } from './grammars/json-arguments.ts'
import { python } from './grammars/python.ts'
import { elements, fields } from './grammars/tags.ts'
import { mark } from './readers/cursor.ts'
import { gemmaSpelling, readLiteral } from './readers/literal.ts'

const nameAttribute = / {0,8}name="(?<name>[^"<>]{1,256})" {0,8}>/

/** A value may state whether it is a string. `never`: more texts that no value contains. */
function parameters(tag: string, never = /(?!)/, hasData = false) {
  return fields({
    field: mark`<${tag} {0,8}name="(?<key>[^"<>]{1,256})"(?: {1,8}string="(?:(?<string>true)|(?<json>false))")? {0,8}>`,
    end: `</${tag}>`,
    never: new RegExp(mark`<${tag}(?: |name=)|${never}`.source),
    orJson: bareJson,
    hasData,
  })
}

// ── Names in front of JSON ──

const mistralNames = calls({
  bare: 'marked',
  begin: mark`\[TOOL_CALLS\]`,
  head: mark`~NAME~(?:\[CALL_ID\](?<id>[A-Za-z0-9_.:/-]{1,256}))?(?:\[ARGS\])?~`,
  why: "'[TOOL_CALLS]' must be followed by a tool's name and a JSON object",
})

/** The text in front of the arguments is the call's id, which contains the name. */
const kimi = calls({
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
  new RegExp(`<[｜|]${words.replaceAll(' ', '(?:▁| |\\\\?_)')}[｜|]>`)
const deepseekEnd = deepseekMark('tool call end')
const deepseekName = deepseekMark('tool sep')
/** V3 and R1 have the name after the word and JSON in a fence. Step 3 has tags after the word. */
const deepseekWord = mark`~function~${deepseekName}~`

const deepseek = calls({
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
const harmony = calls({
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
const gemma = (open: string, close: string, quote: string) =>
  calls({
    bare: 'marked',
    begin: mark`${open}`,
    head: mark`call:NAME(?=\{)`,
    args: (cursor, repairs) => jsonArguments(readLiteral(cursor, gemmaSpelling(quote), repairs)),
    end: close,
    why: "a call between its marks must be 'call:', a tool's name and its arguments in braces",
  })

// ── Keys in tags ──

/**
 * Hy 3 has a tag around the calls and one after the name. Its checkpoints may add a suffix to every
 * tag (vLLM hy_v3_tool_parser.py).
 */
const glm = (suffix: string) =>
  calls({
    open: mark`<tool_calls${suffix}>(?=\s{0,64}<tool_call${suffix}>)`,
    close: `</tool_calls${suffix}>`,
    bare: 'marked',
    begin: mark`<tool_call${suffix}>(?=\s{0,64}NAME\s{0,64}<(?:tool_sep|arg_key|/tool_call)${suffix}>)`,
    head: mark`~NAME~(?:<tool_sep${suffix}>~)?`,
    args: fields({
      field: mark`<arg_key${suffix}>\s*(?=\S)(?<key>(?:(?!<arg_|</arg_key${suffix}>)[^]){1,256}?)\s*</arg_key${suffix}>~<arg_value${suffix}>`,
      end: `</arg_value${suffix}>`,
      never: /<arg_/,
    }),
    end: `</tool_call${suffix}>`,
    why: "a call must be its name and then its arguments, each an 'arg_key' and an 'arg_value' that are closed",
  })

const k3Mark = /<\|(?:open|close|sep)\|>/

/** A channel for the user may precede the calls. Texts have no escapes and cannot contain the marks. */
const kimiK3 = calls({
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

const m3Mark = ']<]minimax[>['
const m3Tag = (tag: RegExp) => mark`${m3Mark}\s{0,16}${tag}`

/** A mark precedes every tag, and no text can contain the mark. */
const minimaxM3 = calls({
  // the model or the server may lose the mark before the first tag
  open: mark`(?:${m3Tag(/<tool_call>/)}|<tool_call>(?=\s{0,64}${m3Mark}))`,
  close: m3Tag(/<\/tool_call>/),
  bare: 'marked',
  strayEnd: m3Tag(/<\/tool_call>/),
  begin: m3Tag(/<invoke {1,8}name="(?<name>[^"<>]{1,256})" {0,8}>/),
  args: elements(m3Mark, m3Tag(/<([^<>/"\s]{1,256})>/), m3Tag(/<\/([^<>/"\s]{1,256})>/)),
  end: m3Tag(/<\/invoke>/),
  why: `a call in the tag 'invoke' of MiniMax must hold one closed tag for each argument, with '${m3Mark}' before every tag, and nothing else`,
})

// ── Invoke tags ──

/**
 * Qwen3-Coder, whose outer tag or only its beginning is often missing. Llama's custom functions have
 * JSON in the same tag. Seed-OSS has another outer tag, and writes a value directly between its tags.
 */
const functionTag = calls({
  bare: 'marked',
  begin: mark`(?=(?:<(?:tool_call|seed:tool_call)>\s{0,64})?<function=(?:(?<name>[^<>\s]{1,256})>)?)`,
  forms: ['<tool_call>', '<seed:tool_call>', ''].map((outer) => ({
    head: mark`${outer}~<function=(?<name>[^<>\s]{1,256})>~`,
    args: fields({
      field: mark`<parameter=(?<key>[^<>\s]{1,256})>`,
      end: '</parameter>',
      never: /<parameter=/,
      orJson: bareJson,
      hasLines: outer !== '<seed:tool_call>',
    }),
    end: mark`~</function>${outer ? mark`~${outer.replace('<', '</')}` : /(?:[ \n\r\t]*<\/(?:tool_call|seed:tool_call)>)?/}`,
  })),
  why: "a call in the tag 'function' must hold its parameters, each in a tag of its own that is closed, and nothing else",
})

/**
 * <invoke name="tool"><parameter name="key">value</parameter></invoke>, in sections of these outer
 * tags and without one. The look after a tag without a section separates it from other texts in XML,
 * also if they were cut there.
 */
function invokes(
  [call, parameter]: [string, string],
  bare: 'marked' | 'plain',
  sections: string[],
  more: { strays?: string[]; never?: RegExp; hasData?: boolean } = {},
): Grammar[] {
  const { strays = sections, never, hasData } = more
  const tags = { args: parameters(parameter, never, hasData), end: mark`~</${call}>` }
  // MiniCPM's tags occur in many declarations, whose parameters have more attributes.
  const inside = hasData ? mark`<${parameter}${nameAttribute}` : mark`<${parameter}[ >]`
  const next = mark`\s{0,64}(?:${new RegExp(inside.source.replace('?<name>', ''))}|\{|</${call}>|(?:<[^>]{0,300})?$)`
  const strayEnds = strays.map((name) => mark`</${name}>`.source)
  return [
    ...sections.map((outer) =>
      calls({
        ...tags,
        open: mark`<${outer}>`,
        close: `</${outer}>`,
        begin: mark`<${call}`,
        head: mark`${nameAttribute}~`,
        why: `'<${outer}>' must hold calls in the tag '${call}', each with its parameters, all of them closed, and nothing else`,
      }),
    ),
    calls({
      ...tags,
      bare,
      strayEnd: new RegExp(strayEnds.join('|') || '(?!)', 'y'),
      begin: mark`<${call}${nameAttribute}(?=${next})~`,
      why: `a call in the tag '${call}' must hold its parameters, each in a tag of its own that is closed, and nothing else`,
    }),
  ]
}

// ── The table ──

/**
 * In the order in which they are tried. `hermes` and `marked-json` follow the dialects that use their
 * tags for other contents, and report contents that none of them can read. `pythonic` precedes
 * `json`, which would read its list as broken JSON, and `invoke-tag`, which shares a tag.
 */
const table: Record<string, Grammar[]> = {
  pythonic: [
    python('<|tool_call_start|>', '<|tool_call_end|>'), // LFM2
    python('<|python_start|>', '<|python_end|>', { isOptional: true }), // Llama 4
    python('<function_calls>', '</function_calls>', { hasLines: true }), // Olmo 3
    python('<tool_code>', '</tool_code>', { hasLines: true, isPrinted: true }),
    python('', '', { fence: 'tool_code', hasLines: true, isPrinted: true }), // Gemma 3
    python('', ''), // Llama 3.2
  ],
  json: [json('')],
  'function-tag': [functionTag],
  'minimax-m3': [minimaxM3],
  glm: [glm(''), glm(':opensource')], // GLM 4.5, Hy 3
  hermes: [json('<tool_call>', '</tool_call>')], // Hermes, Qwen 2.5
  mistral: [json('[TOOL_CALLS]', '', { first: mark`~[{[]` }), mistralNames], // older, newer
  kimi: [kimi], // Kimi K2
  'kimi-k3': [kimiK3],
  deepseek: [deepseek], // DeepSeek V3, R1, V3.1, Step 3
  'invoke-tag': [
    // MiniMax M2, older Claude models
    ...invokes(['invoke', 'parameter'], 'plain', ['minimax:tool_call', 'function_calls'], {
      strays: ['function_calls', 'minimax:tool_call', 'tool_calls'],
    }),
    // DeepSeek since V3.2 (SGLang deepseekv32_detector.py and issue 40236 there)
    ...['｜DSML｜', '|DSML|', '｜｜DSML｜｜', '||DSML||'].flatMap((word) =>
      invokes(
        [`${word}invoke`, `${word}parameter`],
        'marked',
        [`${word}function_calls`, `${word}tool_calls`],
        { never: mark`${word}` },
      ),
    ),
    // MiniCPM 5, whose tokens may lose the blank in front of a name
    ...invokes(['function', 'param'], 'plain', [], {
      never: /&#?\w{1,32};|<!\[CDATA\[|\]\]>/,
      hasData: true,
    }),
  ],
  gemma: [
    gemma('<|tool_call>', '<tool_call|>', '<|"|>'), // Gemma 4
    gemma('<start_function_call>', '<end_function_call>', '<escape>'), // FunctionGemma
  ],
  'marked-json': [
    json('<|python_tag|>'), // Llama 3
    json('<|python_start|>', '<|python_end|>', { isOptional: true }), // Llama 4
    json('<|tool_call|>', '<|/tool_call|>', { isOptional: true }), // Phi-4-mini, Granite
    json('functools', '', { first: /\[/y }), // Phi-4-mini
    json('<tool_calls>', '</tool_calls>'), // Jamba, Hunyuan
    json('<|tool_call_start|>', '<|tool_call_end|>'), // LFM2
    json('<|START_ACTION|>', '<|END_ACTION|>', { shape: 'tool name' }), // Command A, R7B
    json('<|tools_prefix|>', '<|tools_suffix|>', { shape: 'name as key' }), // Apertus
    json('<|action_start|><|plugin|>', '<|action_end|>'), // InternLM
    json('<|action_start|> <|plugin|>', '<|action_end|>'),
    json('<function_call>'), // Granite 20B
    json('function call<|role_sep|>'), // GigaChat 3.0
    json('<|message_sep|>\n\nfunction call<|role_sep|>'),
    json('<|function_call|>'), // GigaChat 3.1
    json('<TOOLCALL>', '</TOOLCALL>'), // Nemotron
    json('<longcat_tool_call>', '</longcat_tool_call>'), // LongCat
  ],
  harmony: [harmony], // OpenAI's open models
}

export const dialects: readonly Dialect[] = Object.entries(table)

/** How all forms begin except calls in a fence. Most texts begin otherwise. */
const anyFirst = /^[<[\]{f]/

/** The reading in the first of these dialects that has one. `fence`: as for a grammar. */
export function readingIn(
  text: string,
  fence?: string,
  among = dialects,
): { dialect: string; reading: Reading } | undefined {
  if (fence !== 'tool_code' && !anyFirst.test(text)) return undefined
  for (const [name, forms] of among) {
    let read: ReturnType<Grammar>
    for (const form of forms) {
      read = form(text, fence)
      if (read !== undefined) break
    }
    const reading = read?.()
    if (reading !== undefined) return { dialect: name, reading }
  }
  return undefined
}
