// The READMEs' numbers of an install, measured on the packages of the lockfile.

import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const root = join(import.meta.dirname, '..')

type Locked = {
  dev?: boolean
  optional?: boolean
  devOptional?: boolean
  peer?: boolean
  link?: boolean
}

/** The folders that `npm install weir-agents` makes beside the package itself. */
function installedFolders(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>
  }
  return Object.entries(packages)
    .filter(
      ([path, { dev, optional, devOptional, peer, link }]) =>
        path.startsWith('node_modules/') && !dev && !optional && !devOptional && !peer && !link,
    )
    .map(([path]) => path)
}

/** Bytes of the files below a folder, without packages that it contains. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.name === 'node_modules') return sum
    const path = join(folder, entry.name)
    return sum + (entry.isDirectory() ? bytesIn(path) : lstatSync(path).size)
  }, 0)
}

test.each(['README.md', 'client/README.md'])(
  '%s states the number and the size of the packages of an install',
  (file) => {
    const folders = installedFolders()
    const megabytes = folders.reduce((sum, path) => sum + bytesIn(join(root, path)), 0) / 1e6
    const readme = readFileSync(join(root, file), 'utf8').replace(/\s+/g, ' ')
    const [, packages, size] = /adds about (\d+) packages and (\d+) MB/.exec(readme) ?? []
    expect(Math.abs(Number(packages) - folders.length)).toBeLessThanOrEqual(5)
    expect(Math.abs(Number(size) / megabytes - 1)).toBeLessThanOrEqual(0.1)
  },
)

test('README.md names the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`weir-agents-${version}.tgz`)
})
