// The parts of a text around its calls: thinking, a fence and the turn's end.

import { isOver, skip, skipBlanks, upTo } from './readers/cursor.ts'

// ── Thinking before the answer, which is never searched for calls ──

/**
 * `isOpened`: the model writes the opening mark itself. Other opening marks may be missing, because
 * chat templates write them into the prompt.
 */
type Thinking = { open: string; close: string; isOpened?: true }

const thinking: Thinking[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<mm:think>', close: '</mm:think>' }, // MiniMax M3
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' }, // Command A
  { open: '<|inner_prefix|>', close: '<|inner_suffix|>', isOpened: true }, // Apertus
  { open: '<|open|>think<|sep|>', close: '<|close|>think<|sep|>' }, // Kimi K3
  { open: '<|channel|>analysis<|message|>', close: '<|end|>', isOpened: true }, // harmony
  { open: '<|channel>thought', close: '<channel|>', isOpened: true }, // Gemma 4
]

/** The first mark that ends thinking without a beginning. Undefined: there is none. */
export function endOfThinking(text: string): { at: number; close: string } | undefined {
  for (const { open, close, isOpened } of thinking) {
    const at = isOpened ? -1 : text.indexOf(close)
    if (at !== -1 && !text.slice(0, at).includes(open)) return { at, close }
  }
  return undefined
}

/**
 * The text after the thinking. All of the text if it begins with none, and nothing if the thinking
 * has no end.
 */
export function withoutThinking(text: string): string {
  const ending = endOfThinking(text)
  const cursor = { text, at: ending === undefined ? 0 : ending.at + ending.close.length }
  for (;;) {
    skipBlanks(cursor)
    const begun = thinking.find(({ open }) => skip(cursor, open))
    if (begun === undefined) return text.slice(cursor.at)
    if (isOver(cursor) || upTo(cursor, begun.close) === undefined) return ''
  }
}

// ── One fence around all of the text ──

const fenceHere = /^(`{3,16}|~{3,16})[ \t]{0,64}([A-Za-z0-9_-]{0,32})[ \t]{0,64}\r?\n/
/** Languages of fences that hold calls. A block in a programming language is an example of code. */
const languages = new Set(
  ' json json5 jsonc xml text plaintext tool_call tool_calls tool-call tool_code'.split(' '),
)

/** `language`: in lower case. `inside`: the contents without blanks around them. */
type Fenced = { language: string; inside: string }

/**
 * `text` has no blanks around it. `isCut`: the fence may still be open at the end of the text.
 * Undefined: the text is not one fenced block.
 */
export function fenced(text: string, isCut = false): Fenced | undefined {
  const [head, fence = '', written = ''] = fenceHere.exec(text) ?? []
  const language = written.toLowerCase()
  if (head === undefined || !languages.has(language)) return undefined
  const rest = text.slice(head.length)
  const inside = rest.endsWith(fence) ? rest.slice(0, -fence.length) : undefined
  // A second block means prose with examples. Inside a string, a line end is escaped.
  if (inside !== undefined && !inside.includes(`\n${fence}`))
    return { language, inside: inside.trim() }
  return isCut ? { language, inside: rest.trim() } : undefined
}

// ── Marks without a meaning at the end. A cut text may break off in any mark ──

const turnEnds = [
  '<|im_end|> <|eot_id|> <|eom_id|> <|endoftext|> <|end_of_text|> <|return|> <end_of_turn> </s>',
  '<|eot|> <|eom|>', // Llama 4
  '<|end|>', // harmony, Phi
  '<|END_OF_TURN_TOKEN|>', // Command
  '<|message_sep|>', // GigaChat
  '<|close|>message<|sep|> <|end_of_msg|>', // Kimi K3
  '<turn|> <|tool_response> <start_function_response>', // Gemma begins the result that it waits for
  '[e~[ <seed:eos>', // MiniMax, Seed-OSS
  '<|calls|> <|flush|>', // Solar Open
  '<|content_model_end_sampling|>', // Inkling
]
  .flatMap((list) => list.split(' '))
  .concat(
    ['▁', ' ', '_', '\\_'].flatMap((blank) => [
      `<｜end${blank}of${blank}sentence｜>`,
      `<|end${blank}of${blank}sentence|>`,
    ]),
  )

/** The text without such marks at its end, and without blanks around it. */
export function withoutTurnEnd(text: string): string {
  const from = text.length - text.trimStart().length
  let end = text.trimEnd().length
  for (;;) {
    const mark = turnEnds.find((one) => text.endsWith(one, end) && end - one.length >= from)
    if (mark === undefined) return text.slice(from, Math.max(end, from))
    end -= mark.length
    while (end > from && /\s/.test(text[end - 1] ?? '')) end -= 1
  }
}

const brokenMark =
  /(?:<\|close\|>\w{0,16}(?:<[^>\n]{0,8})?|\]?<\]?[^>\n]{0,80}|\[[A-Z_]{0,16}|\n[`~]{1,2})$/

/** A text that was cut, without the mark in which it breaks off. */
export function withoutBrokenMark(text: string): string {
  const length = brokenMark.exec(text.slice(-96))?.[0].length ?? 0
  return text.slice(0, text.length - length)
}
