// The rights of key files.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { keyFileChecks } from '../../../../apps/service/doctor/key-files.ts'

it('weir doctor names the key files that other users can reach, and the way to close them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-keys-'))
  const at = (name: string, mode: number) => {
    const path = join(folder, name)
    writeFileSync(path, '', { mode })
    return path
  }
  const settings = { recordSigning: '', encryptionKeys: at('a', 0o600), commandConfig: '' }
  expect([...keyFileChecks(settings)]).toMatchObject([{ state: 'ok' }])
  const open = at('b', 0o640)
  expect([...keyFileChecks({ ...settings, commandConfig: open })]).toMatchObject([
    {
      state: 'warning',
      finding: expect.stringContaining(open),
      remedy: `close them: chmod go= ${open}`,
    },
  ])
  const none = { ...settings, encryptionKeys: join(folder, 'missing') }
  expect([...keyFileChecks(none)]).toEqual([])
  rmSync(folder, { recursive: true })
})
