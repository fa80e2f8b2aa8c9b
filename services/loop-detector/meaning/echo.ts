// The echo of a call: a result with nothing but the words of the call, such as that of `echo step_7`.
// Nobody learns anything from it, so it is no result.
//
// The call changes nothing that a later call reads: a command only speaks, or the tool is an
// echo by name. A redirection, a variable or another program makes it an ordinary call.
// Any other tool may act on its text. Its result is an echo only if it repeats the one text
// of the call, and then another number is all that may differ.

import { codexResult } from '../../../shared/contract/codex-header.ts'
import { isObject, jsonIn } from '../../../shared/lib/json/json-object.ts'
import { commandIn, type Effect, programsIn, wordsOf } from '../evidence/effect.ts'

/**
 * `speech`: the call only speaks, so any two are alike. `text`: the call without its numbers, alike
 * only if this is equal.
 */
export type Echo = { kind: 'speech' } | { kind: 'text'; words: string }

/**
 * `effect`: of the successful call, by its name and command. `raw`: its arguments as sent. `text`: its
 * result.
 */
export function echoOf(
  tool: string,
  value: unknown,
  { effect, raw, text }: { effect: Effect; raw: string; text: string },
): Echo | undefined {
  if (text.length > echoCharsMax || !isObject(value)) return undefined
  const command = commandIn(value)
  if (command !== undefined) {
    const isEcho =
      command.length <= echoCharsMax &&
      speaker.test(command) &&
      speaksOnly(command) &&
      isMadeOf(commandOutput(text), [command])
    return isEcho ? { kind: 'speech' } : undefined
  }
  if (effect !== 'opaque' && effect !== 'reads') return undefined
  if (echoName.test(tool) && wordsOf(tool).includes('echo'))
    return isMadeOf(text, [tool, ...textsIn(value)]) ? { kind: 'speech' } : undefined
  if (!raw.includes(text.trim()) || !isCounted(text)) return undefined // nearly always
  const [said, other] = textsIn(value)
  return said !== undefined && other === undefined && text.trim() === said
    ? { kind: 'text', words: said.replace(/\d+/g, '#') }
    : undefined
}

/**
 * The output of a command without the frame of its host. That is the header of Codex, a JSON object
 * with `output`, the labelled lines of Gemini CLI, or the first lines of Cline.
 */
export function commandOutput(text: string): string {
  if (text.startsWith('{"output"')) {
    const json = jsonIn(text)
    if (isObject(json) && typeof json.output === 'string') return json.output
  }
  const [, printed] = labelled.exec(text) ?? []
  return (
    printed?.replace(/^\(empty\)$/, '') ?? codexResult(text)?.output ?? text.replace(headed, '')
  )
}

const labelled =
  /^(?:Command: [\s\S]{0,1000}?\nDirectory: [^\n]{0,300}\n)?(?:Stdout|Output): ([\s\S]*?)\n(?:Stderr: \(empty\)|Process Group PGID: \d)/
const headed = /^Command executed\.\s*Output:\n/
const echoName = /echo/i
const speaker = /echo|print|puts|console|say|write-|cat|true|:/i

function textsIn(value: Record<string, unknown>): string[] {
  const texts: string[] = []
  for (const name in value) {
    const member = value[name]
    if (typeof member === 'string') texts.push(member.trim())
  }
  return texts
}

/** Longer results are content. */
const echoCharsMax = 1_000

/** Some words, of which a number is one. Three expressions, because a single one backtracks. */
function isCounted(text: string): boolean {
  return /\p{L}/u.test(text) && /\s/.test(text.trim()) && /\d/.test(text)
}

/** Whether the call has each word of the result. An empty result has no word. */
function isMadeOf(text: string, call: string[]): boolean {
  const known = new Set(call.flatMap(wordsIn))
  return wordsIn(text).every((word) => known.has(word))
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+|\d+/gu) ?? []
}

/** Whether a command, or the program of an interpreter, prints its own words and does nothing more. */
function speaksOnly(written: string): boolean {
  const command = written.trim()
  if (/[`]|\$[({\w?!@*#$-]/.test(command)) return false
  if (heredoc.test(command)) return true
  const program = inline.exec(command)?.[2] ?? command
  const lines = program.split(/[;\n]/).map((line) => line.trim())
  if (lines.every((line) => line === '' || print.test(line))) return true
  const plain = command
    .replace(/'[^']*'|"[^"]*"/g, 'text')
    .replace(/\d?>&\d|[&\d]?> ?\/dev\/null/g, '')
  if (/[<>]/.test(plain)) return false
  const programs = programsIn(plain)
  return programs.length > 0 && programs.every(({ program }) => speakers.has(program.toLowerCase()))
}

const speakers: ReadonlySet<string> = new Set(
  'echo printf true : write-output write-host'.split(' '),
)
const heredoc = /^cat\s*<<-?\s*['"]?(\w+)['"]?\n[\s\S]*\n[^\S\n]*\1$/
/** `python3 -c "print('x')"`, `node -e 'console.log("x")'`. */
const inline = /^(?:python[\d.]*|node|ruby|perl|php|bun)\s+-(?:c|e|r)\s+(['"])([\s\S]*)\1$/
const print =
  /^(?:print|println|puts|console\.log|say)(?:\s*\(\s*|\s+)(?:'[^']*'|"[^"]*")(?:\s*\))?$/
