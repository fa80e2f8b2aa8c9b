// The files with keys that the settings name: whether other users of the machine can reach them.

import { existsSync } from 'node:fs'
import { reachedByOthers } from '../../../shared/lib/files/private-files.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { type Check, ok, warning } from './check.ts'

/** Nothing for settings that name no such file. */
export function* keyFileChecks({
  recordSigning,
  encryptionKeys,
  commandConfig,
}: Pick<Settings, 'recordSigning' | 'encryptionKeys' | 'commandConfig'>): Generator<Check> {
  const name = 'key files'
  const files = [recordSigning, encryptionKeys, commandConfig].filter(
    (path) => path !== '' && existsSync(path),
  )
  if (files.length === 0) return
  const open = reachedByOthers(files)
  yield open.length === 0
    ? ok(name, 'no other user can read the files with keys')
    : warning(
        name,
        `other users of this machine can reach ${open.join(', ')}`,
        `close them: chmod go= ${open.join(' ')}`,
      )
}
