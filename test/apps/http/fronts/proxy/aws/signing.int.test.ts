// Requests that the proxy signs for AWS. The model server checks each signature as AWS does: its check
// holds for the requests that AWS's SDK signs itself.

import { createHash, createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { awsCredentialsSpareMs } from '../../../../../../apps/http/fronts/proxy/aws/aws-credentials.ts'
import { signerForAws } from '../../../../../../apps/http/fronts/proxy/aws/aws-signer.ts'
import {
  isBedrock,
  refuseSigned,
} from '../../../../../../apps/http/fronts/proxy/aws/signed-requests.ts'
import { fakeClock } from '../../../../../../client/testing/testing.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { runtimeClient } from '../bedrock/client.ts'
import { conversePieces, isConverseStream } from '../bedrock/model.ts'
import { type Proxied, proxied } from '../proxied.ts'
import { type Received, type ScriptedUpstream, scriptedUpstream } from '../scripted-upstream.ts'

const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'PATH'] as const
const before = Object.fromEntries(names.map((name) => [name, process.env[name]]))

let proxy: Proxied | undefined
let model: ScriptedUpstream | undefined
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-aws-'))
  setEnvironment({ AWS_ACCESS_KEY_ID: 'PROXY', AWS_SECRET_ACCESS_KEY: 'of-proxy' })
})

afterEach(async () => {
  setEnvironment({ ...before })
  rmSync(folder, { recursive: true })
  await proxy?.close()
  await model?.close()
  proxy = undefined
  model = undefined
})

function setEnvironment(values: Partial<Record<string, string | undefined>>): void {
  for (const name of names) {
    const value = name in values ? values[name] : name === 'PATH' ? before.PATH : undefined
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

/** The program `aws` on the path, as a script of the shell. */
function installAws(...lines: string[]): void {
  const text = `#!/bin/sh\necho "$@" >> '${folder}/asked'\n${lines.join('\n')}\n`
  writeFileSync(join(folder, 'aws'), text, { mode: 0o755 })
  setEnvironment({ PATH: `${folder}:${before.PATH}` })
}

const printed = (id: string, expiration: string) =>
  `echo '${JSON.stringify({ Version: 1, AccessKeyId: id, SecretAccessKey: `of-${id}`, SessionToken: 'token', Expiration: expiration })}'`

function respond({ url }: Received, response: ServerResponse): void {
  const isStreamed = isConverseStream(url)
  const type = isStreamed ? 'application/vnd.amazon.eventstream' : 'application/json'
  response.writeHead(200, { 'content-type': type })
  for (const piece of conversePieces([{ text: 'Hi.' }], isStreamed)) response.write(piece)
  response.end()
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

/** Throws for a wrong signature. Returns the id of the key and the signed headers. */
function checked({ method, url, headers, body }: Received, secret: string) {
  const [, id, scope = '', signed = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const [path = '', query = ''] = url.split('?')
  const canonical = [
    method,
    path.replace(/[^\w.~/-]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`),
    query.split('&').sort().join('&'),
    ...signed.split(';').map((name) => `${name}:${headers[name]}`),
    '',
    signed,
    sha256(body),
  ].join('\n')
  const text = `AWS4-HMAC-SHA256\n${headers['x-amz-date']}\n${scope}\n${sha256(canonical)}`
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secret}`)
  expect(signature).toBe(hmac(key, text).toString('hex'))
  expect(headers['x-amz-content-sha256'] ?? sha256(body)).toBe(sha256(body))
  return { id, scope: scope.split('/').slice(1).join('/'), signed: signed.split(';') }
}

const messages = [{ role: 'user' as const, content: [{ text: 'Hi é.' }] }]
const modelId = 'arn:aws:bedrock:us-east-1:1:inference-profile/us.x-v1:0'
const signing = {
  credentials: { accessKeyId: 'CLIENT', secretAccessKey: 'of-client', sessionToken: 'mine' },
  authSchemePreference: ['sigv4'],
}

async function opened(mode?: { coversSubscriptions: boolean }): Promise<Proxied> {
  proxy = await proxied(scriptedGuard(), respond, '', mode, await signerForAws('us-east-1'))
  return proxy
}

describe('the check of a signature', () => {
  it('holds for a request that the SDK of AWS signs itself, and for no other body', async () => {
    model = await scriptedUpstream(respond)
    await runtimeClient(
      model.url,
      {},
      {
        ...signing,
        requestHandler: new NodeHttpHandler(),
      },
    ).send(new ConverseCommand({ modelId, messages }))
    const [request] = model.received as [Received]
    expect(checked(request, 'of-client')).toMatchObject({ id: 'CLIENT' })
    expect(() => checked({ ...request, body: Buffer.from('{}') }, 'of-client')).toThrow()
  })
})

describe('a request that the SDK of AWS signs', () => {
  it.each([
    ['without a veto', undefined],
    ['under the veto', { coversSubscriptions: false }],
  ])('reaches AWS with the signature of the proxy (%s)', async (_, mode) => {
    const { url, received } = await opened(mode)
    const client = runtimeClient(url, {}, signing)
    const { output } = await client.send(new ConverseCommand({ modelId, messages }))
    expect(output?.message?.content).toEqual([{ text: 'Hi.' }])
    const { stream } = await client.send(new ConverseStreamCommand({ modelId, messages }))
    for await (const _ of stream ?? []);
    expect(received).toHaveLength(2)
    for (const request of received) {
      const { id, scope, signed } = checked(request, 'of-proxy')
      expect([id, scope]).toEqual(['PROXY', 'us-east-1/bedrock/aws4_request'])
      expect(signed).toEqual(expect.arrayContaining(['content-type', 'host', 'x-amz-date']))
      expect(request.rawHeaders.join()).not.toMatch(/CLIENT|mine/)
    }
  })

  it('is refused with the remedy if the proxy does not sign', () => {
    const authorization = 'AWS4-HMAC-SHA256 Credential=AKID/20260102/us-east-1/bedrock/aws4_request'
    for (const host of [
      'bedrock-runtime.us-east-1.amazonaws.com',
      'bedrock-mantle.us-east-1.api.aws',
    ])
      expect(() => refuseSigned({ authorization }, `https://${host}`)).toThrow('--sign-aws')
  })

  it.each([
    ['vpce-1-a.bedrock-runtime.eu-west-1.vpce.amazonaws.com', true],
    ['bedrock-runtime-fips.us-east-1.amazonaws.com', true],
    ['bedrock-runtime.cn-north-1.amazonaws.com.cn', true],
    ['bedrock-runtime.eusc-de-east-1.amazonaws.eu', true],
    ['bedrock-runtime-7.us-east-1.elb.amazonaws.com', false],
    ['bedrock-runtime.s3.us-east-1.amazonaws.com', false],
    ['ec2-1-2-3-4.compute-1.amazonaws.com', false],
    ['evilamazonaws.com', false],
    ['amazonaws.com.example.org', false],
    ['127.0.0.1', false],
  ])('goes to Bedrock if its host is %s: %p', (host, expected) => {
    expect(isBedrock(host)).toBe(expected)
  })
})

describe('a client of the signing proxy', () => {
  it.each([{ authorization: 'Bearer key' }, { 'x-api-key': 'key' }])(
    'keeps its key: %p',
    async (headers) => {
      const { url, received } = await opened()
      await fetch(`${url}/model/m/converse`, { method: 'POST', headers, body: '{"messages":[]}' })
      expect(received[0]?.headers).toMatchObject(headers)
      expect(received[0]?.headers).not.toHaveProperty('x-amz-date')
    },
  )

  it('needs no key, on each path and with each query', async () => {
    const { url, received } = await opened()
    await fetch(`${url}/model/a:b(c)/count-tokens?b=2&a=x%20y&b=1`, { method: 'POST', body: '{}' })
    await fetch(`${url}/foundation-models?byProvider=x`)
    for (const request of received) expect(checked(request, 'of-proxy').id).toBe('PROXY')
    expect(received).toHaveLength(2)
  })
})

describe('the credentials of the proxy', () => {
  it('are those that the command of AWS prints, and fresh ones before these end', async () => {
    const clock = fakeClock('2026-03-04T05:06:07Z')
    const end = clock.now() + awsCredentialsSpareMs + 60_000
    installAws(
      `if [ "$(wc -l < '${folder}/asked')" = 1 ]; then ${printed('FIRST', new Date(end).toISOString())}`,
      `else ${printed('SECOND', new Date(end + 3_600_000).toISOString())}; fi`,
    )
    const sign = await signerForAws('eu-central-1', clock)
    const url = new URL('https://bedrock-mantle.eu-central-1.api.aws/v1/responses')
    const request = { method: 'POST', headers: [], body: Buffer.from('{}') }
    const first = (await sign(url, request)).join()
    expect(first).toContain('/eu-central-1/bedrock-mantle/aws4_request')
    expect(first).toContain('x-amz-security-token,token')
    clock.advance(60_001)
    const late = await Promise.all([sign(url, request), sign(url, request)])
    expect([first, ...late.map(String)].map((text) => /Credential=(\w+)/.exec(text)?.[1])).toEqual([
      'FIRST',
      'SECOND',
      'SECOND',
    ])
  })

  it('are used to their end while the command fails', async () => {
    const clock = fakeClock('2026-03-04T05:06:07Z')
    const end = clock.now() + 60_000
    installAws(
      `if [ "$(wc -l < '${folder}/asked')" = 1 ]; then ${printed('FIRST', new Date(end).toISOString())}; else exit 255; fi`,
    )
    const sign = await signerForAws('us-east-1', clock)
    const url = new URL('https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse')
    const request = { method: 'POST', headers: [], body: Buffer.from('{}') }
    expect(String(await sign(url, request))).toContain('Credential=FIRST/')
    clock.advance(60_000)
    await expect(sign(url, request)).rejects.toMatchObject({ code: 'proxy.credentials' })
  })

  it.each([
    ['there are none', 'exit 255'],
    ['the command prints something other', 'echo secret; exit 0'],
    ['the command fails after a part of its output', 'echo secret; exit 1'],
  ])('are missed at the start if %s, with the remedy and no output', async (_, line) => {
    installAws(line)
    const missed = await signerForAws('us-east-1').catch((error: unknown) => error)
    expect(`${missed}`).toContain('aws configure export-credentials')
    expect(JSON.stringify(missed, Object.getOwnPropertyNames(missed))).not.toContain('secret')
  })
})
