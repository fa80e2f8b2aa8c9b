// A text that is one fenced block from its beginning to its end, or to where it was cut.

const beginning = /^(`{3,16}|~{3,16})[ \t]*([A-Za-z0-9_-]{0,32})[ \t]*\r?\n/
/**
 * What stands after the fence where calls are inside; a block of a programming language is an
 * example of it.
 */
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

/**
 * What is inside of a fence that is open when the text ends; undefined: the text does not begin
 * with one.
 */
export function openFenced(text: string): string | undefined {
  const [head, , language] = beginning.exec(text) ?? []
  return head === undefined || !languages.has((language ?? '').toLowerCase())
    ? undefined
    : text.slice(head.length).trim()
}

/**
 * What is inside of it, without blanks around; undefined: the text is no such block. `text` has no
 * blanks around it.
 */
export function fenced(text: string): string | undefined {
  const [head, fence, language] = beginning.exec(text) ?? []
  if (head === undefined || fence === undefined || language === undefined) return undefined
  if (
    !languages.has(language.toLowerCase()) ||
    !text.endsWith(fence) ||
    text.length < head.length + fence.length
  )
    return undefined
  const inside = text.slice(head.length, -fence.length)
  // A second block in between is prose with examples; inside of a string a line end is written
  // otherwise.
  return inside.includes(`\n${fence}`) ? undefined : inside.trim()
}
