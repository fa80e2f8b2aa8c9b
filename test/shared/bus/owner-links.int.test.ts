// The links of a file's owner: real sockets, and hostile processes at their other end.

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { linkToOwner, type OwnerLink } from '../../../shared/bus/embedded/beside/link.ts'
import {
  type LinkHost,
  linkRequestsMax,
  listenForLinks,
  type OwnerLinks,
  ownerLinksMax,
} from '../../../shared/bus/embedded/beside/owner-links.ts'
import { makeOwnFolder, socketOf } from '../../../shared/bus/embedded/beside/socket-place.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { until } from '../../support/inbox.ts'

let folder: string
let file: string
let owner: OwnerLinks | undefined
let sockets: Socket[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-links-'))
  file = join(folder, 'weir.db')
  writeFileSync(file, '')
  makeOwnFolder(dirname(socketOf(file, 'links')))
  sockets = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await owner?.close()
  owner = undefined
  rmSync(folder, { recursive: true, force: true })
})

async function listen(answer: LinkHost['answer'], left: LinkHost['left'] = () => {}) {
  owner = await listenForLinks(file, { answer, left })
}

async function linked(): Promise<OwnerLink> {
  const link = await linkToOwner(file, systemClock)
  if (link === undefined) throw new Error('no owner accepts links')
  return link
}

/** A process that is no Weir. It reads nothing. */
async function stranger(): Promise<Socket> {
  const socket = createConnection(socketOf(file, 'links'))
  sockets.push(socket)
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

describe('a link to the owner', () => {
  it('has each answer for its own request, also out of order, and the errors of the owner', async () => {
    const later = Promise.withResolvers<string>()
    await listen(async (_, request) => {
      if (request === 'slow') return later.promise
      if (request === 'fast') return 'at once'
      throw new WeirError('message.invalid', 'no such request')
    })
    const link = await linked()
    const slow = link.request('slow')
    expect(await link.request('fast')).toBe('at once')
    await expect(link.request('odd')).rejects.toMatchObject({
      code: 'message.invalid',
      message: 'no such request',
    })
    later.resolve('late')
    expect(await slow).toBe('late')
    link.close()
  })

  it('ends with its owner, and its open requests fail as retryable', async () => {
    await listen(() => new Promise(() => {}))
    const link = await linked()
    const open = link.request('never')
    open.catch(() => {}) // it is expected below
    await owner?.close()
    owner = undefined
    await link.ended
    await expect(open).rejects.toMatchObject({ code: 'bus.unreachable', retryable: true })
    await expect(link.request('again')).rejects.toMatchObject({ code: 'bus.unreachable' })
    expect(await linkToOwner(file, systemClock)).toBeUndefined()
  })

  it('reports its end to the owner', async () => {
    const left: object[] = []
    const seen: object[] = []
    await listen(
      async (link) => void seen.push(link),
      (link) => left.push(link),
    )
    const link = await linked()
    await link.request('hello')
    link.close()
    await until(async () => left.length === 1)
    expect(left).toEqual(seen)
  })

  it('goes through a folder that only its user may enter', async () => {
    mkdirSync(dirname(socketOf(file, 'links')), { recursive: true })
    await listen(async () => null)
    expect(statSync(dirname(socketOf(file, 'links'))).mode & 0o777).toBe(0o700)
  })
})

describe('a hostile process at a link', () => {
  it.each([
    ['text that is no JSON', 'hello\n'],
    ['JSON that is no request', '[1, 2]\n'],
    ['a request without a number', '{"request": 1}\n'],
    ['a line without an end', 'x'.repeat(limits.outsideRequestBytesMax + 1)],
  ])('loses its connection with %s, and other links are answered', async (_, sent) => {
    await listen(async () => 'fine')
    const link = await linked()
    const hostile = await stranger()
    const closed = new Promise((resolve) => hostile.once('close', resolve))
    hostile.resume()
    hostile.write(sent)
    await closed
    expect(await link.request('go')).toBe('fine')
    link.close()
  })

  it('has few requests open if it does not read, and holds up no other link', async () => {
    let answered = 0
    await listen(async (_, request) => {
      if (request === 'go') return 'fine'
      answered += 1
      return 'x'.repeat(1024 * 1024)
    })
    const hostile = await stranger()
    hostile.pause()
    for (let number = 1; number <= 1_000; number += 1)
      hostile.write(`${JSON.stringify({ number, request: 'much' })}\n`)
    const link = await linked()
    await until(async () => answered >= linkRequestsMax)
    for (let n = 0; n < 20; n += 1) expect(await link.request('go')).toBe('fine')
    expect(answered).toBeLessThan(2 * linkRequestsMax) // its system reads some answers
    link.close()
  })

  it('gets an error when too many processes are linked', async () => {
    await listen(async () => 'fine')
    for (let n = 0; n < ownerLinksMax; n += 1) await stranger()
    const link = await linked()
    await expect(link.request('go')).rejects.toMatchObject({
      code: 'bus.full',
      message: expect.stringContaining(`${ownerLinksMax} processes already use ${file}`),
    })
  })
})
