// Frames of calls whose arguments stand in tags. marks.ts has the table.

import type { Grammar } from './dialect.ts'
import { calls } from './grammars/calls.ts'
import { bareJson } from './grammars/json-arguments.ts'
import { elements, fields } from './grammars/tags.ts'
import { isAt, mark } from './readers/cursor.ts'

export const nameAttribute = / {0,8}name="(?<name>[^"<>]{1,256})" {0,8}>/

/** A value may state whether it is a string. `never`: more texts that no value contains. */
export function parameters(tag: string, never = /(?!)/, hasData = false) {
  return fields({
    field: mark`<${tag} {0,8}name="(?<key>[^"<>]{1,256})"(?: {1,8}string="(?:(?<string>true)|(?<json>false))")? {0,8}>`,
    end: `</${tag}>`,
    never: new RegExp(mark`<${tag}(?: |name=)|${never}`.source),
    orJson: bareJson,
    hasData,
  })
}

// ── Keys in tags ──

/** Hy 3 has a tag around the calls and one after the name. LongCat has a word before each tag. */
export const glm = ({ word = '', suffix = '' } = {}) =>
  calls({
    open: mark`<tool_calls${suffix}>(?=\s{0,64}<tool_call${suffix}>)`,
    close: `</tool_calls${suffix}>`,
    bare: 'marked',
    begin: mark`<${word}tool_call${suffix}>(?=\s{0,64}NAME\s{0,64}<(?:tool_sep|${word}arg_key|/${word}tool_call)${suffix}>)`,
    head: mark`~NAME~(?:<tool_sep${suffix}>~)?`,
    args: fields({
      field: mark`<${word}arg_key${suffix}>\s*(?=\S)(?<key>(?:(?!<${word}arg_|</${word}arg_key${suffix}>)[^]){1,256}?)\s*</${word}arg_key${suffix}>~<${word}arg_value${suffix}>`,
      end: `</${word}arg_value${suffix}>`,
      never: new RegExp(`<${word}arg_`),
    }),
    end: `</${word}tool_call${suffix}>`,
    why: "a call must be its name and then its arguments, each an 'arg_key' and an 'arg_value' that are closed",
  })

/** Each checkpoint of Hy adds another suffix to every tag (vLLM hy_v4_tool_parser.py). */
export const suffixed: Grammar = (text) => {
  const [, suffix] = /^<tool_calls?(:[A-Za-z0-9_-]{1,32})>/.exec(text) ?? []
  return suffix === undefined ? undefined : glm({ suffix })(text)
}

const m3Mark = ']<]minimax[>['
const m3Tag = (tag: RegExp) => mark`${m3Mark}\s{0,16}${tag}`

/** A mark precedes every tag, and no text can contain the mark. */
export const minimaxM3 = calls({
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
export const functionTag = calls({
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
export function invokes(
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

/** Bars of DeepSeek's marks, in every width. */
export const bar = /[|｜‖∣│¦]/

const dsmlWord = mark`(?:${bar} ?){0,8}DSML ?(?:${bar} ?){1,8}`
const dsmlMark = new RegExp(
  `<(/?) ?${dsmlWord.source}(?:(invoke|parameter)|(?:(?:tool|function)[ _▁]?)?(?:calls|use))(?: {1,8}(?=>)|(?=[ >]))`,
  'g',
)
const dsmlFirst = new RegExp(dsmlMark.source, 'y')

/**
 * DeepSeek since V3.2 (SGLang deepseekv32_detector.py and issue 40236 there). Servers lose and double
 * the bars, V4.1 has blanks and another section. All marks are read in one spelling, because no value
 * contains a mark in any spelling.
 */
export const dsml: Grammar[] = invokes(
  ['｜DSML｜invoke', '｜DSML｜parameter'],
  'marked',
  ['｜DSML｜tool_calls'],
  { never: dsmlWord },
).map((form) => (text) => {
  if (!isAt({ text, at: 0 }, dsmlFirst)) return undefined
  return form(text.replace(dsmlMark, (_, slash, tag = 'tool_calls') => `<${slash}｜DSML｜${tag}`))
})
