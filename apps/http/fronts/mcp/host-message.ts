// The messages of a host, with the arguments of its calls as text. The SDK parses a message before a
// handler sees it: then numbers beyond 2^53 have changed, and members of one name and `__proto__`
// are lost.
// The text of the arguments comes from this file. A member of that name in a host's
// message is replaced.
// An unfinished line of a pipe has at most `limits.mcpMessageBytesMax` bytes.

import { Transform } from 'node:stream'
import { limits } from '../../../../shared/contract/limits.ts'
import { boundedJson } from '../../../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { exactValues, type Path } from '../../../../shared/wire/exact-json.ts'

/** Of `_meta` in the parameters of a call. */
const argumentsKey = 'weir/arguments'

/** The messages of a host, for the SDK. Undefined: no JSON, or nested too deep. */
export function messagesWithTexts(text: string): unknown {
  const value = boundedJson(text, limits.jsonDepthMax)
  const textAt = exactValues(text)
  if (Array.isArray(value)) value.forEach((one, index) => void addText(one, [index], textAt))
  else addText(value, [], textAt)
  return value
}

/** The SDK refuses other forms of parameters. */
function addText(message: unknown, path: Path, textAt: (path: Path) => string | undefined): void {
  if (!isObject(message) || message.method !== 'tools/call' || !isObject(message.params)) return
  const { params } = message
  if (params._meta !== undefined && !isObject(params._meta)) return
  params._meta = {
    ...params._meta,
    [argumentsKey]: textAt([...path, 'params', 'arguments']) ?? '{}',
  }
}

/** The text of a call's arguments. Throws for a message that did not pass this file. */
export function argumentsIn(meta: Record<string, unknown> | undefined): string {
  const text = meta?.[argumentsKey]
  if (typeof text !== 'string')
    throw new Error(
      `the call nests deeper than ${limits.jsonDepthMax} levels: send flatter arguments`,
    )
  return text
}

/** Lines of a host, for a transport of the SDK. It ends with an error:. */
export function linesWithTexts(): Transform {
  let pending: Buffer[] = []
  let bytes = 0
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      let from = 0
      for (let end = piece.indexOf(lineFeed); end >= 0; end = piece.indexOf(lineFeed, from)) {
        this.push(rewritten(Buffer.concat([...pending, piece.subarray(from, end + 1)])))
        pending = []
        bytes = 0
        from = end + 1
      }
      pending.push(piece.subarray(from))
      bytes += piece.length - from
      if (bytes <= limits.mcpMessageBytesMax) return done()
      done(new Error(`a message has more than ${limits.mcpMessageBytesMax} bytes`))
    },
  })
}

const lineFeed = 0x0a

/** A line that is no message passes: the SDK answers it. */
function rewritten(line: Buffer): Buffer | string {
  const value = messagesWithTexts(line.toString())
  return value === undefined ? line : `${JSON.stringify(value)}\n`
}
