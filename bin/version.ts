// Raises the version by the changes in .changeset, and moves their texts into CHANGELOG.md:
// `node bin/version.ts [FOLDER]`. It runs @changesets/cli on a copy without `workspaces`, because that program
// leaves out the package at the root of a workspace.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitingChanges } from './release-faults.ts'

const checkout = join(import.meta.dirname, '..')
const root = process.argv[2] ?? checkout
const copy = mkdtempSync(join(tmpdir(), 'weir-version-'))
try {
  const manifest = readFileSync(join(root, 'package.json'), 'utf8')
  const { workspaces: _, ...alone } = JSON.parse(manifest)
  writeFileSync(join(copy, 'package.json'), JSON.stringify(alone))
  for (const path of ['.changeset', 'CHANGELOG.md'])
    cpSync(join(root, path), join(copy, path), { recursive: true })

  const program = join(checkout, 'node_modules/@changesets/cli/bin.js')
  execFileSync(process.execPath, [program, 'version'], { cwd: copy, stdio: 'inherit' })

  const { version } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'))
  const raised = manifest.replace(`"version": "${alone.version}"`, `"version": "${version}"`)
  writeFileSync(join(root, 'package.json'), raised)
  cpSync(join(copy, 'CHANGELOG.md'), join(root, 'CHANGELOG.md'))
  for (const file of waitingChanges(root))
    if (!existsSync(join(copy, '.changeset', file))) rmSync(join(root, '.changeset', file))
  console.log(`The version is ${version}. test/bin/release.unit.test.ts names the other places.`)
} finally {
  rmSync(copy, { recursive: true })
}
