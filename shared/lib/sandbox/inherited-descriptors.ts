// The open files that the program before us left to us without close-on-exec. Each program that we
// start would get them too, and an open folder leads out of a sandbox.
// At every start of a tool or guard, /dev/null takes their places in the new program.
// A sandbox is refused if a descriptor is too high to take its place.

import { openSync, readdirSync, readFileSync } from 'node:fs'
import { WeirError } from '../errors.ts'

/** Of descriptors. libuv handles one entry for each lower one at every start. */
export const inheritedMax = 4096
const closeOnExec = 0o2000000

type Place = 'pipe' | 'ipc' | 'ignore' | number

let nothing: number | undefined

/** `stdio`: of the new program. */
export function withoutInherited(stdio: readonly Place[]): Place[] {
  const places = [...stdio]
  for (const descriptor of inheritedDescriptors()) {
    if (descriptor > inheritedMax) continue
    while (places.length <= descriptor) places.push('ignore')
    if (places[descriptor] !== 'ignore') continue
    nothing ??= openSync('/dev/null', 'r+')
    // Not `ignore`: above 2, libuv leaves that descriptor as it is.
    places[descriptor] = nothing
  }
  return places
}

/** Throws `sandbox.refused`. */
export function checkInherited(): void {
  const high = inheritedDescriptors().find((descriptor) => descriptor > inheritedMax)
  if (high === undefined) return
  throw new WeirError(
    'sandbox.refused',
    `descriptor ${high} is open for every program that Weir starts; close it before Weir starts, or open it below ${inheritedMax + 1}`,
  )
}

/**
 * Those above 2 without close-on-exec. Node.js opens its files with it. Empty where /proc is
 * missing: there are no sandboxes.
 */
function inheritedDescriptors(): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor))
}

function isInherited(descriptor: number): boolean {
  const [, flags] = /^flags:\s*([0-7]+)/m.exec(infoOf(descriptor)) ?? []
  return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
}

/** Empty: it is closed by now, as that of the folder that was just read. */
function infoOf(descriptor: number): string {
  try {
    return readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')
  } catch {
    return ''
  }
}
