// The opa guard with real policies: policy/README.md has their commands.

import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { given } from '../../../../client/testing/given-guard.ts'
import opaGuard, { type OpaGuardOptions } from '../../../../services/guards/opa/guard.ts'
import { readBundle } from '../../../../services/guards/opa/performer/bundle.ts'
import { loadPolicy } from '../../../../services/guards/opa/performer/policy.ts'
import type { Guard, JsonObject } from '../../../../shared/contract/guard/guard.ts'

const policyFile = policy('bundle.tar.gz')

function policy(name: string): string {
  return fileURLToPath(new URL(`policy/${name}`, import.meta.url))
}

let folder: string
let guard: Guard<undefined>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-opa-'))
  guard = opaGuard({ tools: ['*'], policyFile, runtimeContext: { role: 'sre-oncall' } })
})

afterAll(() => rm(folder, { recursive: true }))

function verdictOn(name: string, args: JsonObject = {}, by = guard) {
  return given(by, [{ name, arguments: args }]).verdicts[0]
}

describe('the opa guard', () => {
  it.each([
    ['allow', 'git', { args: ['status'] }],
    ['not-applicable', 'look', {}],
  ])('lets a call pass by the decision %s', (_, tool, args) => {
    expect(verdictOn(tool, args)).toEqual({ ordinal: 0, verdict: 'allow' })
  })

  it('denies a call by the decision deny, with the reason of the policy', () => {
    expect(verdictOn('git', { args: ['push'] })).toEqual({
      ordinal: 0,
      verdict: 'deny',
      code: 'opa.denied',
      text: 'the policy denies this call: pushes require human review',
      evidence: 'pushes require human review',
    })
  })

  it('requests approval by the decision requires-approval, with the data and the context', () => {
    expect(verdictOn('kubectl')).toMatchObject({
      verdict: 'ask',
      code: 'opa.approval',
      text: 'the policy requires approval of this call: kubectl by sre-oncall',
    })
  })

  it('reads the older form with allow', () => {
    expect(verdictOn('legacy')).toMatchObject({ verdict: 'deny', code: 'opa.denied' })
  })

  it('denies a call by a decision that it does not know', () => {
    expect(verdictOn('unrecognized')).toMatchObject({
      verdict: 'deny',
      code: 'opa.unrecognized',
      evidence: '{"decision":"maybe"}',
    })
  })

  it('denies a call on which the evaluation fails, and judges the next one', () => {
    expect(verdictOn('conflict')).toMatchObject({ verdict: 'deny', code: 'opa.error' })
    expect(verdictOn('git', { args: ['status'] })).toMatchObject({ verdict: 'allow' })
    expect(verdictOn('git', { args: ['push'] })).toMatchObject({ verdict: 'deny' })
  })

  it('judges large arguments, again and again in the same memory', () => {
    const args = { args: ['push', 'x'.repeat(1_000_000)] }
    for (let time = 0; time < 20; time += 1)
      expect(verdictOn('git', args)).toMatchObject({ code: 'opa.denied' })
  })

  it('judges each call of a round by its own arguments', () => {
    const calls = [['log'], ['push'], ['diff']].map((args) => ({
      name: 'git',
      arguments: { args },
    }))
    expect(given(guard, calls).verdicts.map(({ verdict }) => verdict)).toEqual([
      'allow',
      'deny',
      'allow',
    ])
  })

  it('reads a policy.wasm with a file of data', async () => {
    const wasm = join(folder, 'policy.wasm')
    await writeFile(wasm, readBundle(policyFile).wasm)
    const dataFile = join(folder, 'data.json')
    await writeFile(dataFile, '{"oncall": ["junior"]}')
    const runtimeContext = { role: 'junior' }
    const other = opaGuard({ tools: ['*'], policyFile: wasm, dataFile, runtimeContext })
    expect(verdictOn('kubectl', {}, other)).toMatchObject({ verdict: 'ask' })
  })

  it('gives the policy an empty list of messages if its operator accepts that', async () => {
    const entrypoint = 'agent/call/decision'
    const options = { tools: ['*'], policyFile: policy('messages.tar.gz'), entrypoint }
    const accepting = opaGuard({ ...options, messages: 'empty' })
    expect(verdictOn('git', {}, accepting)).toMatchObject({ verdict: 'allow' })
  })
})

describe('the options of the opa guard', () => {
  const usable: OpaGuardOptions = { tools: ['*'], policyFile }

  it.each<[string, object, string]>([
    ['no tools', { tools: [] }, "the opa guard's tools is []"],
    ['an unknown key', { policy: 'x' }, '"policy", which is no key here'],
    ['no file', { policyFile: undefined }, "the opa guard's policyFile is missing"],
    ['a missing file', { policyFile: '/nowhere/policy.wasm' }, 'it cannot be read'],
    ['a file that is no policy', { policyFile: policy('policy.rego') }, 'opa build -t wasm'],
    ['a policy on messages', { policyFile: policy('messages.tar.gz') }, 'names messages'],
    [
      'a policy with several entrypoints',
      { policyFile: policy('messages.tar.gz'), messages: 'empty' },
      'the policy has agent/call/decision, agent/call/explanation',
    ],
    ['an unknown entrypoint', { entrypoint: 'agent/call' }, 'the policy has agent/call/decision'],
    ['data twice', { dataFile: policy('data.json') }, 'the bundle has data'],
    ['a context that Weir sets', { runtimeContext: { agent: 'x' } }, 'leave agent out'],
    ['other messages', { messages: 'all' }, "give it 'empty'"],
  ])('with %s are refused', (_, options, error) => {
    expect(() => opaGuard({ ...usable, ...options } as OpaGuardOptions)).toThrow(error)
  })

  it('name the command that installs a missing engine', () => {
    const missing = () => {
      throw new Error('Cannot find module')
    }
    expect(() => loadPolicy(readBundle(policyFile), missing)).toThrow(
      'npm install @open-policy-agent/opa-wasm',
    )
  })

  it('refuse a damaged bundle and a damaged module', async () => {
    const tar = gunzipSync(readFileSync(policyFile))
    const file = join(folder, 'damaged.tar.gz')
    await writeFile(file, gzipSync(tar.subarray(0, 20_000)))
    expect(() => opaGuard({ ...usable, policyFile: file })).toThrow('is damaged')
    const wasm = join(folder, 'damaged.wasm')
    await writeFile(wasm, readBundle(policyFile).wasm.subarray(0, 20_000))
    expect(() => opaGuard({ ...usable, policyFile: wasm })).toThrow('cannot be loaded')
  })
})
