// Makes the files of a release in out/release from those of `make package` and `make docs`, and lists
// them: `node bin/release.ts [--tag vX.Y.Z] [--image NAME@DIGEST]`. It pushes nothing.
// A version that two places name differently is not released.

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildPrograms, pathOf } from '../test/deploy/tools.ts'
import { filesIn, tagFaults, versionFaults, versionOf, waitingChanges } from './release-faults.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'out', 'release')
const textOf = filesIn(root)
const version = versionOf(textOf)
const { tag, image } = parseArgs({
  options: { tag: { type: 'string' }, image: { type: 'string' } },
}).values

/** The steps of .github/workflows/release.yml that this machine cannot do. */
const notRun = [
  'the pushes of the package, the image, the chart, the site and the release',
  'the provenance and the attestation: only a workflow has the identity for them',
  'the signature of SHA256SUMS: it needs cosign, and the identity of a workflow',
]

const lastSteps = tagFaults(textOf, { tag: tag ?? `v${version}`, waiting: waitingChanges(root) })
const faults = [...versionFaults(textOf), ...(tag === undefined ? [] : lastSteps)]
if (faults.length > 0) fail(faults)

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
takePackage()
makeChart()
makeSite()
writeNotes()
list(writeChecksums())

/** The npm package with a bill of materials. npm checks the package as before a publication. */
function takePackage(): void {
  const tarball = `weir-agents-${version}.tgz`
  cpSync(join(root, 'out', tarball), join(folder, tarball))
  const materials = join(root, 'out', 'weir-agents.cdx.json')
  const named = JSON.parse(readFileSync(materials, 'utf8')).metadata.component.version
  if (named !== version)
    fail([`the bill of materials has ${named}, and package.json has ${version}`])
  cpSync(materials, join(folder, `weir-agents-${version}.cdx.json`))
  run('npm', 'publish', '--dry-run', '--loglevel=error', join(folder, tarball))
}

/** The chart. With `--image` its default is that image, by digest. */
function makeChart(): void {
  const made = mkdtempSync(join(tmpdir(), 'weir-chart-'))
  try {
    cpSync(join(root, 'deploy', 'chart'), made, { recursive: true })
    if (image !== undefined) {
      const [repository, digest] = image.split('@')
      const values = textOf('deploy/chart/values.yaml')
        .replace('repository: weir\n', `repository: ${repository}\n`)
        .replace("digest: ''\n", `digest: ${digest}\n`)
      if (!digest || !values.includes(`digest: ${digest}`)) fail([`${image} has no digest`])
      writeFileSync(join(made, 'values.yaml'), values)
    }
    if (tag === undefined && spawnSync('go', ['version']).status !== 0) {
      notRun.push('the chart: it needs Go, which builds helm')
      return
    }
    buildPrograms(['helm'])
    run(pathOf('helm'), 'package', made, '--destination', folder)
  } finally {
    rmSync(made, { recursive: true })
  }
}

function makeSite(): void {
  const file = join(folder, `weir-site-${version}.tar.gz`)
  run('tar', '-czf', file, '-C', join(root, 'out', 'site'), '.')
}

/** The changes of the version, as the text of the release. */
function writeNotes(): void {
  const [, changes = ''] = textOf('CHANGELOG.md').split(`\n## ${version}\n`)
  const text = changes.split('\n## ')[0] ?? ''
  const from = image === undefined ? '' : `Image: \`${image}\`\n\n`
  writeFileSync(join(folder, 'notes.md'), `${from}${text.trim()}\n`)
}

type Artefact = { name: string; bytes: number; sha256: string }

function writeChecksums(): Artefact[] {
  const artefacts = readdirSync(folder)
    .toSorted()
    .map((name) => {
      const content = readFileSync(join(folder, name))
      const sha256 = createHash('sha256').update(content).digest('hex')
      return { name, bytes: content.length, sha256 }
    })
  // The format of `sha256sum --check`.
  const lines = artefacts.map(({ name, sha256 }) => `${sha256}  ${name}\n`)
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''))
  return artefacts
}

function list(artefacts: Artefact[]): void {
  console.log(`\nWeir ${version}, out/release:\n`)
  console.log(
    '       bytes  SHA-256                                                           file',
  )
  for (const { name, bytes, sha256 } of artefacts)
    console.log(`${`${bytes}`.padStart(12)}  ${sha256}  ${name}`)
  for (const arch of ['amd64', 'arm64']) {
    const name = `weir:${version}-${arch}`
    const found = spawnSync('docker', ['image', 'inspect', '--format', '{{.Size}} {{.Id}}', name])
    const [bytes = '', id = ''] = found.status === 0 ? `${found.stdout}`.trim().split(' ') : []
    if (id !== '') console.log(`${bytes.padStart(12)}  ${id.replace('sha256:', '')}  image ${name}`)
    else
      notRun.push(`the image for linux/${arch}: no image ${name}; make image-test names the reason`)
  }
  console.log(`\nNot run here:\n${notRun.map((line) => `- ${line}\n`).join('')}`)
  if (tag === undefined && lastSteps.length > 0)
    console.log(`Before the tag:\n${lastSteps.map((line) => `- ${line}\n`).join('')}`)
}

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}

function fail(reasons: string[]): never {
  console.error(reasons.map((reason) => `release: ${reason}`).join('\n'))
  process.exit(1)
}
