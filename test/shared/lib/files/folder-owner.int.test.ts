// Whose a data folder is. Each test has its own state folder, as another user or machine has.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ownKeyOf } from '../../../../apps/http/edge/access/own-key.ts'
import { openBus, openBusBeside, openBusReadOnly } from '../../../../client/place/open-bus.ts'
import { settingsOf } from '../../../../client/weir-options.ts'
import {
  claimFolder,
  noteFoundFolder,
  noteNamedFolder,
  refuseForeign,
} from '../../../../shared/lib/files/folder-owner.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'

const log = createLog({ level: 'silent' })
const { XDG_STATE_HOME: stateOfRun } = process.env
let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-owner-'))
  asUser('ann')
})
afterEach(() => {
  process.env.XDG_STATE_HOME = stateOfRun
  rmSync(root, { recursive: true, force: true })
})

function asUser(name: string): void {
  process.env.XDG_STATE_HOME = join(root, `state-of-${name}`)
}

/** Makes the user's secret, as a first run elsewhere does. */
function hasRunBefore(name: string): void {
  asUser(name)
  claimFolder(join(root, 'elsewhere'))
}

/** A folder that this process found, with a log of the present user. */
async function folderWithLog({ isFound = true } = {}): Promise<string> {
  const dataFolder = mkdtempSync(join(root, 'data-'))
  rmSync(dataFolder, { recursive: true })
  if (isFound) noteFoundFolder(dataFolder, 'program')
  await (await openBus(readSettings({ dataFolder }, {}), log)).close()
  return dataFolder
}

const markOf = (dataFolder: string) => join(dataFolder, 'weir.owner')
const foreign = { code: 'folder.foreign' }

describe('a data folder that was only found', () => {
  it('is used by the user who made it, and marked for this user alone', async () => {
    const dataFolder = await folderWithLog()
    expect(statSync(markOf(dataFolder)).mode & 0o777).toBe(0o600)
    const secret = readFileSync(join(root, 'state-of-ann', 'weir', 'owner'), 'utf8').trim()
    expect(readFileSync(markOf(dataFolder), 'utf8')).not.toContain(secret)
    await (await openBus(readSettings({ dataFolder }, {}), log)).close()
  })

  it('stays open to each home that named it, such as those of a host and its container', async () => {
    hasRunBefore('container')
    hasRunBefore('host')
    const dataFolder = await folderWithLog()
    asUser('container')
    expect(() => claimFolder(dataFolder)).toThrow('was only found here')
    noteNamedFolder(dataFolder)
    claimFolder(dataFolder)
    for (const home of ['host', 'container', 'host']) {
      asUser(home)
      noteFoundFolder(dataFolder, 'program')
      claimFolder(dataFolder)
    }
  })

  it('is new if it has only the lock of a first start that was killed, or a file for git', () => {
    hasRunBefore('ann')
    const dataFolder = join(root, 'begun')
    mkdirSync(dataFolder)
    for (const name of ['weir.db-lock', '.gitignore']) writeFileSync(join(dataFolder, name), '')
    noteFoundFolder(dataFolder, 'program')
    claimFolder(dataFolder)
    expect(existsSync(markOf(dataFolder))).toBe(true)
  })

  it('is read only for another user: no process writes there, and readers read', async () => {
    hasRunBefore('bob')
    asUser('ann')
    const dataFolder = await folderWithLog()
    asUser('bob')
    const settings = readSettings({ dataFolder }, {})
    await expect(openBus(settings, log)).rejects.toMatchObject(foreign)
    await expect(openBusBeside(settings, log)).rejects.toMatchObject(foreign)
    expect(() => ownKeyOf(dataFolder)).toThrow('was only found here')
    expect(existsSync(join(dataFolder, 'weir.key'))).toBe(false)
    await (await openBusReadOnly(settings, log)).close()
  })

  it('is refused without a mark on the first run ever too, and a copy of a marked folder is not', async () => {
    const dataFolder = await folderWithLog()
    const copy = `${dataFolder}-copy`
    cpSync(dataFolder, copy, { recursive: true })
    noteFoundFolder(copy, 'program')
    await (await openBus(readSettings({ dataFolder: copy }, {}), log)).close()
    rmSync(markOf(dataFolder))
    for (const name of ['ann', 'bob']) {
      asUser(name)
      const settings = readSettings({ dataFolder }, {})
      await expect(openBus(settings, log)).rejects.toMatchObject(foreign)
      expect(existsSync(markOf(dataFolder))).toBe(false)
    }
  })

  it('is marked before its log is there, so a start that is killed leaves it to its user', async () => {
    const dataFolder = join(root, 'new')
    mkdirSync(dataFolder)
    const lock = join(dataFolder, 'weir.db-lock')
    symlinkSync('/nowhere', lock)
    noteFoundFolder(dataFolder, 'program')
    const settings = readSettings({ dataFolder }, {})
    await expect(openBus(settings, log)).rejects.toMatchObject({ code: 'bus.foreign-schema' })
    expect(existsSync(join(dataFolder, 'weir.db'))).toBe(false)
    expect(existsSync(markOf(dataFolder))).toBe(true)
    rmSync(lock)
    await (await openBus(settings, log)).close()
  })

  it('is used without a state folder, as in a container without a home', async () => {
    hasRunBefore('bob')
    asUser('ann')
    const dataFolder = await folderWithLog()
    process.env.XDG_STATE_HOME = '/dev/null'
    await (await openBus(readSettings({ dataFolder }, {}), log)).close()
  })

  it('has no mark that fits by chance: an empty, a cut and a foreign one are none', async () => {
    hasRunBefore('bob')
    asUser('ann')
    const dataFolder = await folderWithLog()
    const [id, proof = ''] = readFileSync(markOf(dataFolder), 'utf8').split(' ')
    asUser('bob')
    for (const text of ['', `${id}`, `${id} ${proof.slice(0, 20)}`, `${id} ${'0'.repeat(64)}`]) {
      writeFileSync(markOf(dataFolder), text)
      await expect(openBus(readSettings({ dataFolder }, {}), log)).rejects.toMatchObject(foreign)
    }
  })

  it('belongs to nobody if others can read the secret: then no mark counts', async () => {
    const dataFolder = await folderWithLog()
    const mark = readFileSync(markOf(dataFolder), 'utf8')
    chmodSync(join(root, 'state-of-ann', 'weir', 'owner'), 0o644)
    await (await openBus(readSettings({ dataFolder }, {}), log)).close()
    expect(readFileSync(markOf(dataFolder), 'utf8')).toBe(mark)
  })
})

describe('a data folder that a person named', () => {
  it('is used and marked, and from then on it needs no name', async () => {
    hasRunBefore('bob')
    asUser('ann')
    const dataFolder = await folderWithLog({ isFound: false })
    asUser('bob')
    const settings = readSettings({ dataFolder }, {})
    await (await openBus(settings, log)).close()
    noteFoundFolder(dataFolder, 'program')
    await (await openBus(settings, log)).close()
  })
})

describe('the data folder of a program', () => {
  it('is only found if no option names it', () => {
    hasRunBefore('bob')
    const here = process.cwd()
    try {
      mkdirSync(join(root, 'work', '.weir'), { recursive: true })
      process.chdir(join(root, 'work'))
      writeFileSync(join('.weir', 'weir.db'), '')
      const named = settingsOf({ agents: [], dataFolder: '.weir' })
      expect(() => refuseForeign(named.dataFolder)).not.toThrow()
      const unnamed = settingsOf({ agents: [] })
      expect(() => refuseForeign(unnamed.dataFolder)).toThrow(
        'name it once with --data-folder .weir',
      )
      settingsOf({ agents: [], dataFolder: '.weir' })
      expect(() => refuseForeign(named.dataFolder)).not.toThrow()
      noteFoundFolder('.weir', 'command')
      settingsOf({ agents: [], dataFolder: '.weir' })
      expect(() => refuseForeign(named.dataFolder)).toThrow('name it once')
    } finally {
      process.chdir(here)
    }
  })
})
