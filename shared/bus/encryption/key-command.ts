// The keys of tenants as the output of a command, such as the client of a secret store.

import { execFileSync } from 'node:child_process'
import { harmlessEnvironment, ofSecretStores } from '../../lib/sandbox/harmless-variables.ts'
import { invalid, keysIn, type TenantKeys } from './tenant-keys.ts'

const waitMsMax = 30_000
const outputBytesMax = 16 * 1024 * 1024

/**
 * `command`: a program and its arguments, separated by spaces, that prints the content of a file of
 * keys. Throws `settings.invalid`.
 */
export function tenantKeysOf(command: string): TenantKeys {
  return keysIn(`the output of ${command}`, outputOf(command))
}

function outputOf(command: string): string {
  const [program = '', ...args] = command.split(' ').filter((part) => part !== '')
  try {
    return execFileSync(program, args, {
      env: harmlessEnvironment(ofSecretStores),
      encoding: 'utf8',
      timeout: waitMsMax,
      maxBuffer: outputBytesMax,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  } catch (cause) {
    // Not the cause: its text has the output.
    throw invalid(`the output of ${command}`, endText(program, cause as Ending))
  }
}

type Ending = { status?: number | null; code?: string }

function endText(program: string, { status, code }: Ending): string {
  switch (code) {
    case 'ENOENT':
      return `there is no program ${program}`
    case 'ETIMEDOUT':
      return `it did not end within ${waitMsMax / 1000} seconds`
    case 'ENOBUFS':
      return `it prints more than ${outputBytesMax} bytes`
    default:
      return typeof status === 'number'
        ? `it ended with exit code ${status}`
        : `it was ended (${code ?? 'by a signal'})`
  }
}
