// The places that must agree before a version is released. package.json is the only one that sets
// the version. All other places repeat or read it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

type Files = (path: string) => string

export function filesIn(root: string): Files {
  return (path) => readFileSync(join(root, path), 'utf8')
}

export function versionOf(textOf: Files): string {
  return (JSON.parse(textOf('package.json')) as { version: string }).version
}

/** One line for each place with another version than package.json. */
export function versionFaults(textOf: Files): string[] {
  const version = versionOf(textOf)
  const lock = JSON.parse(textOf('package-lock.json'))
  const chart = parse(textOf('deploy/chart/Chart.yaml'))
  const places: Record<string, unknown> = {
    'package-lock.json': lock.version,
    'package-lock.json, packages': lock.packages[''].version,
    'deploy/chart/Chart.yaml, version': chart.version,
    'deploy/chart/Chart.yaml, appVersion': chart.appVersion,
    'CHANGELOG.md, newest version': /^## (\d\S*)$/m.exec(textOf('CHANGELOG.md'))?.[1],
    'action.yml': /weir-agents@([\d.]*\d)/.exec(textOf('action.yml'))?.[1],
    'docs/start/scan-sessions.md': /OWNER\/weir@v(\S+)/.exec(
      textOf('docs/start/scan-sessions.md'),
    )?.[1],
    'README.md': /weir-agents-(\S+)\.tgz/.exec(textOf('README.md'))?.[1],
    'docs/operate/kubernetes.md': namesIn(textOf('docs/operate/kubernetes.md')),
  }
  return Object.entries(places)
    .filter(([, named]) => named !== version)
    .map(([place, named]) => `${place} has ${named}, and package.json has ${version}`)
}

/** The versions of images that a page names, each once. */
function namesIn(page: string): string {
  const names = page.matchAll(/(?:\/weir:|VERSION=)([\d.]*\d)/g)
  return [...new Set([...names].map(([, name]) => name))].join(', ')
}

/** The files of .changeset with changes that no version has yet. */
export function waitingChanges(root: string): string[] {
  const files = readdirSync(join(root, '.changeset'))
  return files.filter((file) => file.endsWith('.md') && file !== 'README.md')
}

type Tag = { tag: string; waiting: readonly string[] }

/** The last steps before the tag of a version. Development goes on without them. */
export function tagFaults(textOf: Files, { tag, waiting }: Tag): string[] {
  const version = versionOf(textOf)
  const drafts = textOf('schemas/lock.json').match(/"released":false/g)?.length ?? 0
  const [lastSchema, lastOfFormat] = [
    lastNumber(textOf('schemas/lock.json'), /"id":(\d+)/g),
    lastNumber(textOf('shared/codec/formats.ts'), /lastSchema: (\d+)/g),
  ]
  const faults: [isFault: boolean, fault: string][] = [
    [tag !== `v${version}`, `the tag is ${tag}, and package.json has ${version}`],
    [waiting.length > 0, `changes wait in .changeset (${waiting.join(', ')}): run make version`],
    [
      drafts > 0,
      `schemas/lock.json has ${drafts} drafts: run node_modules/.bin/node schemas/generate.ts --release`,
    ],
    [
      lastSchema > lastOfFormat,
      `shared/codec/formats.ts ends at schema ${lastOfFormat}, and schemas/lock.json at ${lastSchema}: close the record format of this version with a line, so the next schema begins another format`,
    ],
  ]
  return faults.filter(([isFault]) => isFault).map(([, fault]) => fault)
}

/** 0: there is none. */
function lastNumber(text: string, pattern: RegExp): number {
  return Math.max(0, ...[...text.matchAll(pattern)].map(([, number]) => Number(number)))
}
