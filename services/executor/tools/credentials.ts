// What of an agent file's URL and headers may be a credential, and how it is kept out of a result:
// servers echo what they got, and most so in errors. A name tells most of them; in other headers
// what is long and without a space might be one, because nobody knows which variable it came from.
// What is too short to be one is left: hiding it would only spoil results.

import type { HttpTool } from '../../../shared/agents/agents.ts'
import type { ToolEnding } from './tool.ts'

const telling = /auth|key|token|secret|pass|credential|cookie|session|signature/i
const harmless = /^(accept|accept-.*|content-.*|user-agent|cache-control)$/i
/** Characters from which on a word counts as a credential. */
const tellingMin = 8
const otherMin = 16

/** The longest first, so that none leaves the rest of another. */
export function credentialsOf({ url, headers }: HttpTool): string[] {
  const named = [...Object.entries(headers), ...(URL.parse(url)?.searchParams ?? [])]
  const found = named.flatMap(([name, value]) => {
    if (harmless.test(name)) return []
    const min = telling.test(name) ? tellingMin : otherMin
    return [value.trim(), ...value.split(/[\s,;="]+/)].filter((word) => word.length >= min)
  })
  return [...new Set(found)].sort((a, b) => b.length - a.length)
}

export function withoutCredentials(ending: ToolEnding, credentials: string[]): ToolEnding {
  if (
    !credentials.some(
      (credential) => ending.text.includes(credential) || ending.reason.includes(credential),
    )
  )
    return ending
  const hide = (text: string) =>
    credentials.reduce((rest, credential) => rest.replaceAll(credential, '[secret]'), text)
  return { ...ending, text: hide(ending.text), reason: hide(ending.reason) }
}
