// The last use of each API key: a file next to the file of keys. Servers write it.
// A server writes at most once a minute, and when it closes. No request waits for the file,
// and no fault of the file refuses a request.
// Only commands of an operator write the file of keys, so no server brings a removed key back.

import { limits } from '../../../../shared/contract/limits.ts'
import type { Clock, Milliseconds } from '../../../../shared/lib/clock.ts'
import { writeSecretFile } from '../../../../shared/lib/files/secret-files.ts'
import { isObject, jsonIn } from '../../../../shared/lib/json/json-object.ts'
import { readText } from '../../../../shared/settings/text-file.ts'

const minuteMs = 60_000

export type KeyUse = {
  /** `id`: the hash of a key, or a subject, as the file of keys has it. */
  note(id: string): void
  /** Writes the uses that are not written yet. */
  close(): void
}

/**
 * `file`: of the keys. `isKnown`: whether the file of keys has this id. `onFault`: called once, if the
 * uses cannot be written.
 */
export function keyUse(
  file: string,
  {
    clock,
    isKnown,
    onFault,
  }: { clock: Clock; isKnown(id: string): boolean; onFault(error: unknown): void },
): KeyUse {
  const uses = new Map<string, Milliseconds>()
  let writtenAt = Number.NEGATIVE_INFINITY
  let stop: (() => void) | undefined
  let isFaulty = false

  /** Keeps later uses that other servers wrote. */
  function write(): void {
    stop?.()
    stop = undefined
    writtenAt = clock.monotonic()
    for (const id of uses.keys()) if (!isKnown(id)) uses.delete(id)
    for (const [id, at] of lastUses(file)) if (isKnown(id)) uses.set(id, later(uses.get(id), at))
    const used = [...uses].map(([id, at]) => [id, new Date(at).toISOString()])
    try {
      writeSecretFile(fileOf(file), { used: Object.fromEntries(used) })
    } catch (error) {
      if (!isFaulty) onFault(error)
      isFaulty = true
    }
  }

  return {
    note(id) {
      uses.set(id, clock.now())
      stop ??= clock.after(Math.max(0, writtenAt + minuteMs - clock.monotonic()), write)
    },
    close() {
      if (stop !== undefined) write()
    },
  }
}

/** By id. Empty: no server has written a use, or the file cannot be read. */
export function lastUses(file: string): Map<string, Milliseconds> {
  const read = readText(fileOf(file), limits.edgeKeyFileBytesMax)
  const uses = new Map<string, Milliseconds>()
  if (!('text' in read)) return uses
  for (const [id, text] of Object.entries(usedIn(read.text))) {
    const at = typeof text === 'string' ? Date.parse(text) : Number.NaN
    if (!Number.isNaN(at)) uses.set(id, at)
  }
  return uses
}

function usedIn(text: string): object {
  const value = jsonIn(text)
  return isObject(value) && isObject(value.used) ? value.used : {}
}

function fileOf(file: string): string {
  return `${file}.used`
}

function later(a: Milliseconds | undefined, b: Milliseconds): Milliseconds {
  return Math.max(a ?? b, b)
}
