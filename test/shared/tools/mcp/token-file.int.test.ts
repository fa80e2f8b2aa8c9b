// The file of `auth.tokenFile`.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { LoginFault, tokenProvider, writeLogin } from '../../../../shared/tools/mcp/token-file.ts'

let folder: string
let file: string
let tokenNow: () => Promise<unknown>

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-token-file-'))
  file = join(folder, 'token')
  await writeFile(file, 'first\n')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const url = 'https://own.example/mcp'
const loginAt = (server: string) => ({
  server,
  client: { client_id: 'weir' },
  tokens: { access_token: 'renewed', token_type: 'Bearer' },
})

describe('a token file that becomes a login', () => {
  beforeEach(() => {
    const provider = tokenProvider({ name: 'own', url }, file)
    if (!('token' in provider)) throw new Error('the file has no plain token')
    tokenNow = async () => provider.token()
  })

  it('gives the access token if the login is for this server', async () => {
    expect(await tokenNow()).toBe('first')
    writeLogin(file, loginAt(url))
    expect(await tokenNow()).toBe('renewed')
  })

  it('gives no token if the login is for another server', async () => {
    writeLogin(file, loginAt('https://other.example/mcp'))
    await expect(tokenNow()).rejects.toThrow(LoginFault)
  })
})
