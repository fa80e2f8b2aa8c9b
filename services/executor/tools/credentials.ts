// Finds possible credentials in the URL and headers of an agent file, and keeps them out of
// results: servers echo requests, mostly in errors. A name identifies most of them. In other
// headers, a long value without a space may be one. A short value is left: hiding it would only
// spoil results.

import type { HttpTool } from '../../../shared/agents/agents.ts'
import type { ToolEnding } from './tool.ts'

const telling = /auth|key|token|secret|pass|credential|cookie|session|signature/i
const harmless = /^(accept|accept-.*|content-.*|user-agent|cache-control)$/i
/** The least characters of a credential. */
const tellingMin = 8
const otherMin = 16

/** The longest first, so that none leaves a part of another. */
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
