// Finds a call in tags of which a part is missing: a tag without its end, or the end of a call
// without its beginning. A server that stops early leaves such a text, and so does a parser that takes
// one tag.
//
// A beginning counts at the start of a line, if the name of an offered tool follows, or nothing.
// An end counts as the end of the text, after arguments.
// Text about calls is no call (about-calls.ts).
// Linear in any text: only some tags are compared.

import { quoted } from '../../../shared/contract/arguments/name-text.ts'
import { isAboutCalls, withoutExamples } from './about-calls.ts'

type Offered = readonly { name: string }[]

/** Tags of calls, and the tags of functions and invocations that have the name of a tool. */
const beginning =
  /^ {0,3}<(tool_calls?|function_calls?|tool_use|invoke(?= name=)|function(?==))(?:=|[^<>\n=]{0,16}=)?"?([\w.:-]{0,128})[^<>\n]{0,32}>/gim
const beginningsMax = 64
/** The name of a tool right after a tag: in JSON, in the next tag, or as a word. */
const named =
  /^\s{0,64}(?:[[{\s]{1,8}"(?:name|tool|tool_name|function)"\s{0,8}:\s{0,8}"([\w.:-]{1,128})"|<(?:function=|invoke name=")([\w.:-]{1,128})|([\w.:-]{1,128})\s{0,8}(?:[<{(\n]|$))/
const end = /<\/(tool_calls?|function_calls?|tool_use|invoke|function)>\s*$/i
const argument = /^ {0,3}<(?:arg_key>|parameter[= ])|^ {0,3}[[{\s]{1,8}"name"\s{0,8}:/m

/** The tag of the half call, quoted. `text`: the answer without thinking. */
export function halfCall(text: string, offered: Offered): string | undefined {
  if (!text.includes('<')) return undefined
  const visible = withoutExamples(text)
  // Not toLowerCase: other letters may grow, and the places would differ.
  const lower = visible.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  for (const found of [...visible.matchAll(beginning)].slice(-beginningsMax)) {
    const [mark, tag = '', name = ''] = found
    if (lower.includes(`</${tag.toLowerCase()}`, found.index)) continue
    const frame = visible.slice(found.index)
    if (!namesTool(name, frame.slice(mark.length), offered)) continue
    return isAboutCalls(visible.slice(0, found.index), frame) ? undefined : quoted(`<${tag}>`)
  }
  const [mark, tag = ''] = end.exec(visible.slice(-endCharsMax)) ?? []
  if (mark === undefined || visible.includes(`<${tag}`)) return undefined
  const at = visible.search(argument)
  return at < 0 || isAboutCalls(visible.slice(0, at), visible.slice(at))
    ? undefined
    : quoted(mark.trim())
}

/** An end is followed by blanks only. */
const endCharsMax = 256

function namesTool(name: string, rest: string, offered: Offered): boolean {
  if (name === '' && rest.trim() === '') return true
  const [, inJson, inTag, word] = named.exec(rest) ?? []
  const names = [name, inJson, inTag, word]
  return offered.some((tool) => names.includes(tool.name))
}
