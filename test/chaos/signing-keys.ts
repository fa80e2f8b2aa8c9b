// The keys of a run with signed records: each process gets a folder with the files of its principals.

import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createKeyFiles } from '../../shared/bus/signing/keys.ts'

export type SigningKeys = {
  /** The folder with the files of these principals. `name`: of the process. */
  folderOf(name: string, principals: readonly string[]): string
}

export function createSigningKeys(folder: string, guards: readonly string[]): SigningKeys {
  const all = join(folder, 'keys')
  createKeyFiles(all, { guards })
  return {
    folderOf(name, principals) {
      const own = join(folder, 'keys-of', name)
      mkdirSync(own, { recursive: true, mode: 0o700 })
      for (const principal of principals)
        cpSync(join(all, `${principal}.json`), join(own, `${principal}.json`))
      return own
    },
  }
}
