// `weir demo --data-folder` keeps the demo's log, and never replaces another one.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { runDemo } from '../../../apps/demo/demo.ts'
import { startDemoProxy } from '../../../apps/http/demo-proxy.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { logFileIn } from '../../../shared/bus/embedded/file/log-file.ts'
import { decode } from '../../../shared/codec/codec.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { output } from '../../support/output.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-kept-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const settings = readSettings({ partitions: '1', logLevel: 'silent' }, {})

it('the demo keeps its turn in the named folder, and prints how to inspect it', async () => {
  const { stream, text } = output()
  await runDemo({ bad: 'reflex', keptIn: folder }, { settings, startProxy: startDemoProxy }, stream)
  expect(text()).toMatch(
    /Next:\n.* inspect demo --data-folder .*\n.* export --data-folder .*\n.* replay demo\.weir .*\n.* replay .* --set .*\n.* report demo\.weir /,
  )
  const bus = await openEmbeddedBus({ file: logFileIn(folder), clock: systemClock, readOnly: true })
  try {
    const [opened] = await bus.read({
      topic: `${settings.topicPrefix}conversation-events`,
      partition: 0,
      from: 0,
      limit: 1,
    })
    expect(decode(opened?.value as Uint8Array)).toMatchObject({
      type: 'user-message',
      conversation: 'demo',
    })
  } finally {
    await bus.close()
  }
})

it('the demo refuses a folder with a log, and leaves that log unchanged', async () => {
  writeFileSync(logFileIn(folder), 'mine')
  const { stream, text } = output()
  const refused = runDemo(
    { bad: 'reflex', keptIn: folder },
    { settings, startProxy: startDemoProxy },
    stream,
  )
  await expect(refused).rejects.toMatchObject({
    code: 'output.exists',
    message: expect.stringContaining('--data-folder'),
  })
  expect([
    text(),
    readFileSync(logFileIn(folder), 'utf8'),
    existsSync(`${logFileIn(folder)}-wal`),
  ]).toEqual(['', 'mine', false])
})
