// `weir keys create`: writes the keys of signed records, one file for each principal. Exit code 0:
// the files are written.
// Here: `weir keys` for signing and encryption. Not here: the use of keys (shared/bus/signing,
// shared/bus/encryption), and API keys (apps/http/edge/access).

import { createKeyFiles } from '../../../shared/bus/signing/keys.ts'
import { isGuardName } from '../../../shared/contract/guard/guard-registration.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { printable } from '../../terminal/text/printable.ts'

export type KeysOptions = { guard?: string[]; rotate?: boolean }

/** Throws `usage` for a name that no guard can have, and `settings.invalid` for unusable files. */
export function createKeys(folder: string, options: KeysOptions, out: NodeJS.WriteStream): void {
  const { guard = [], rotate = false } = options
  const bad = guard.find((name) => !isGuardName(name))
  if (bad !== undefined)
    throw usageError(`no guard can have the name '${printable(bad)}' (--guard)`)
  const { principals, generation } = createKeyFiles(folder, { guards: guard, rotate })
  out.write(
    `generation ${generation}: wrote ${principals.map((name) => `${name}.json`).join(', ')} to ${printable(folder)}\n` +
      'Give each process only the files of its principals (WEIR_RECORD_SIGNING). Keep root.key offline.\n',
  )
}
