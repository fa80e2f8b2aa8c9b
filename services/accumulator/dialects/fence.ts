// A text that is one fenced block, from its beginning to its end or to the cut.

const beginning = /^(`{3,16}|~{3,16})[ \t]*([A-Za-z0-9_-]{0,32})[ \t]*\r?\n/
/** Languages of fences that hold calls. A block in a programming language is an example of code. */
const languages = new Set([
  '',
  'json',
  'json5',
  'jsonc',
  'xml',
  'text',
  'plaintext',
  'tool_call',
  'tool_calls',
  'tool-call',
  'tool_code',
])

/** `language`: in lower case. `inside`: the contents without blanks around them. */
export type Fenced = { language: string; inside: string }

/** A fence that is still open at the end of the text. Undefined: the text does not begin with one. */
export function openFenced(text: string): Fenced | undefined {
  const [head, , written = ''] = beginning.exec(text) ?? []
  const language = written.toLowerCase()
  return head === undefined || !languages.has(language)
    ? undefined
    : { language, inside: text.slice(head.length).trim() }
}

/** Undefined: the text is not one fenced block. `text` has no blanks around it. */
export function fenced(text: string): Fenced | undefined {
  const [head, fence, language] = beginning.exec(text) ?? []
  if (head === undefined || fence === undefined || language === undefined) return undefined
  if (
    !languages.has(language.toLowerCase()) ||
    !text.endsWith(fence) ||
    text.length < head.length + fence.length
  )
    return undefined
  const inside = text.slice(head.length, -fence.length)
  // ^A second block means prose with examples. Inside a string, a line end is escaped.
  return inside.includes(`\n${fence}`)
    ? undefined
    : { language: language.toLowerCase(), inside: inside.trim() }
}
