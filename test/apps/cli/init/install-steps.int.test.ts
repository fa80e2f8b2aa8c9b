// The commands that weir init prints to install the packages of a TypeScript project.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { installSteps, stepsFrom } from '../../../../apps/cli/init/install-steps.ts'
import { version } from '../../../../shared/lib/version.ts'

let folder: string
let root: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-steps-'))
  root = join(folder, 'node_modules', 'weir-agents')
  mkdirSync(root, { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true }))

function installedFrom(resolved: string): void {
  const packages = { 'node_modules/weir-agents': { version: '1.2.3', resolved } }
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }))
}
const steps = () =>
  stepsFrom(join(folder, 'project'), { root, isCheckout: false, version: '1.2.3' })

describe('the installation of a new TypeScript project', () => {
  it('makes the package in a checkout and installs it', () => {
    const checkout = join(import.meta.dirname, '../../../..')
    expect(installSteps('/far/away/from/it')).toEqual([
      `make -C ${checkout} package`,
      `npm install ${join(checkout, 'out', `weir-agents-${version()}.tgz`)}`,
    ])
  })

  it('uses the file from which this Weir was installed', () => {
    writeFileSync(join(folder, 'weir.tgz'), '')
    installedFrom('file:weir.tgz')
    expect(steps()).toEqual(['npm install ../weir.tgz'])
  })

  it('names no file that is gone', () => {
    installedFrom('file:weir.tgz')
    expect(steps()).toEqual([expect.stringMatching(/^npm install PATH\/weir-agents-1\.2\.3\.tgz /)])
  })

  it('is a plain npm install if this Weir came from a registry', () => {
    installedFrom('https://registry.example/weir-agents-1.2.3.tgz')
    expect(steps()).toEqual(['npm install'])
  })

  it('asks for the file if npm did not note it', () => {
    expect(steps()).toEqual([expect.stringContaining('make package')])
  })
})
