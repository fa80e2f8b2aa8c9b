// The lockfile and package.json of a checkout: everything that an installation runs has a checksum.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'

const root = join(import.meta.dirname, '..')
const json = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))

type Locked = { integrity?: string; link?: true; hasInstallScript?: true }
const packages = json('package-lock.json').packages as Record<string, Locked>
const installed = Object.entries(packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && link === undefined,
)

describe('the lockfile', () => {
  it('has a checksum for each package', () => {
    expect(installed.length).toBeGreaterThan(100)
    expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([])
  })

  it('has the Node.js of each platform', () => {
    const platforms = installed
      .map(([path]) => /^node_modules\/node-(?:bin-)?((?:linux|darwin)-\w+)$/.exec(path)?.[1])
      .filter((platform) => platform !== undefined)
    expect(platforms.toSorted()).toEqual(['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'])
  })

  it('allows no package to run an install script', () => {
    const withScripts = installed
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/.*node_modules\//, ''))
    expect(withScripts).toContain('@swc/core') // the check finds one
    const allowed = json('package.json').allowScripts as Record<string, boolean>
    expect(withScripts.filter((name) => allowed[name] !== false)).toEqual([])
  })
})
