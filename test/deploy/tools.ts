// The programs and schemas that check the chart: built from Go modules into out/deploy, once for
// each version. No cluster and no other download is needed.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
export const outFolder = join(root, 'out', 'deploy')

export const programs = {
  helm: { module: 'helm.sh/helm/v4/cmd/helm', version: 'v4.3.1' },
  kubeconform: { module: 'github.com/yannh/kubeconform/cmd/kubeconform', version: 'v0.8.0' },
  'kube-score': { module: 'github.com/zegl/kube-score/cmd/kube-score', version: 'v1.20.0' },
} as const

type Program = keyof typeof programs

/** The modules with the schemas. */
export const modules = {
  kubernetes: 'k8s.io/kubernetes@v1.37.2',
  keda: 'github.com/kedacore/keda/v2@v2.21.0',
  prometheusOperator: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
} as const

/** The path of a program, also if it is not built. */
export function pathOf(program: Program): string {
  return join(outFolder, `${program}-${programs[program].version}`)
}

export function isBuilt(program: Program): boolean {
  return existsSync(pathOf(program))
}

/** Builds these programs if they are missing. Helm takes minutes on a small machine. */
export function buildPrograms(names = Object.keys(programs) as Program[]): void {
  mkdirSync(outFolder, { recursive: true })
  for (const name of names) {
    const { module, version } = programs[name]
    if (isBuilt(name)) continue
    console.log(`building ${name} ${version}`)
    run('go', ['install', '-ldflags=-s -w', `${module}@${version}`], {
      environment: { GOBIN: outFolder },
    })
    renameSync(join(outFolder, name), pathOf(name))
  }
}

/** The folder of a module, downloaded if it is missing. */
export function folderOf(module: string): string {
  return (JSON.parse(run('go', ['mod', 'download', '-json', module])) as { Dir: string }).Dir
}

/** Throws with the output if the program fails. */
export function run(
  program: string,
  args: string[],
  { environment = {}, input = '' }: { environment?: Record<string, string>; input?: string } = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    cwd: root,
    input,
    maxBuffer: 64 * 1024 * 1024,
  })
  if (error !== undefined) throw error
  if (status === 0) return stdout
  // kube-score also lists the checks that passed.
  const faults = `${stdout}${stderr}`.replaceAll(/^\[(?:OK|SKIPPED)\].*\n/gm, '')
  throw new Error(`${[program, ...args].join(' ')}\n${faults}`)
}
