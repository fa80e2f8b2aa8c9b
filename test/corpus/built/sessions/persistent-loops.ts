// Loops in which each call is new: edits that leave one error, a pod that never starts, a pipeline that
// fails again under another number. The expectations were written before the rules that see them.

import type { Scenario } from '../../../../apps/replay/judge/scenario.ts'
import { failed, ok, rounds, turnOf } from '../trace.ts'
import { after, bash, bashFailed, execFailed, stuck } from './session.ts'

const edited = (path: string, n: number, text: string) =>
  ok(
    'Edit',
    { file_path: path, old_string: `${text} // ${n - 1}`, new_string: `${text} // ${n}` },
    `The file ${path} has been updated successfully.`,
  )
const patch = (path: string, line: string) =>
  ok(
    'apply_patch',
    { input: `*** Begin Patch\n*** Update File: ${path}\n@@\n+${line}\n*** End Patch` },
    `Success. Updated the following files:\nM ${path}`,
  )
const casts = [
  'const total = Number(raw)',
  'const total: number = raw as number',
  'const total = raw as unknown as number',
  'const total = parseInt(raw)',
  'const total = +raw',
  'const total = Math.round(Number(raw))',
  'let total = 0 + Number(raw)',
  'const total = Number.parseFloat(raw)',
  'const total = <number>raw',
  'const total = (raw ?? 0) as number',
  'const total = Number(String(raw))',
  'const total = raw.valueOf() as number',
]

const edits: Scenario[] = [
  stuck(
    'edits-that-leave-a-type-error',
    20,
    rounds(12, (n) => [
      edited('/app/src/cart.ts', n, turnOf(casts, n)),
      bashFailed(
        'npx tsc --noEmit',
        "src/cart.ts(14,9): error TS2322: Type 'string' is not assignable to type 'number'.",
      ),
    ]),
  ),
  stuck(
    'edits-that-move-the-error',
    36,
    rounds(20, (n) => [
      edited('/app/src/cart.ts', n, turnOf(casts, n)),
      bashFailed(
        'npx tsc --noEmit',
        `src/cart.ts(${14 + n},9): error TS2322: Type 'string' is not assignable to type 'number'.`,
      ),
    ]),
  ),
  stuck(
    'patches-that-leave-a-borrow-error',
    20,
    rounds(12, (n) => [
      patch('src/pool.rs', turnOf(casts, n)),
      execFailed(
        'cargo build',
        'error[E0502]: cannot borrow `self.items` as mutable because it is also borrowed as immutable\n  --> src/pool.rs:41:13\n\nerror: could not compile `pool` (bin "pool") due to 1 previous error',
      ),
    ]),
  ),
  stuck(
    'edits-with-a-build-that-ends-well',
    20,
    rounds(12, (n) => [
      edited('/srv/api/handler.go', n, turnOf(casts, n)),
      bash('go build ./... 2>&1 | tail -5', '# api\n./handler.go:31:14: undefined: respondJSON'),
    ]),
  ),
  stuck(
    'edits-with-reads-between',
    30,
    rounds(10, (n) => [
      ok(
        'read_file',
        { path: 'app/models.py', start: n, end: n + 40 },
        `${n}\tclass Order:\n${n + 1}\t    total = ${n}`,
      ),
      ok(
        'write_file',
        { path: 'app/models.py', content: `class Order:\n    total = ${n}\n` },
        'Wrote app/models.py',
      ),
      failed(
        'run_command',
        { command: 'pytest tests/test_models.py -q' },
        "ImportError while importing test module 'tests/test_models.py'.\napp/models.py:3: in <module>\nE   ImportError: cannot import name 'Money' from partially initialized module 'app.money'",
      ),
    ]),
  ),
  stuck(
    'edits-of-two-files',
    24,
    rounds(14, (n) => [
      edited(n % 2 === 0 ? '/app/src/a.ts' : '/app/src/b.ts', n, turnOf(casts, n)),
      bashFailed(
        'npm run build',
        "src/a.ts:3:10 - error TS2305: Module './b.ts' has no exported member 'read'.\n\nFound 1 error in src/a.ts:3",
      ),
    ]),
  ),
]

const pods: Scenario[] = [
  stuck(
    'pod-that-fits-on-no-node',
    14,
    rounds(20, (n) => [
      bash(
        'kubectl describe pod train-0 | tail -5',
        `Events:\n  Type     Reason            Age                  From               Message\n  ----     ------            ----                 ----               -------\n  Warning  FailedScheduling  ${n}m${(n * 7) % 60}s (x${n} over ${n + 1}m)  default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu.`,
      ),
    ]),
    20,
  ),
  stuck(
    'pod-that-is-pending-by-its-age',
    24,
    rounds(24, (n) =>
      bash(
        'kubectl get pods -l app=train',
        `NAME      READY   STATUS    RESTARTS   AGE\ntrain-0   0/1     Pending   0          ${16 + n}m`,
      ),
    ),
    60,
  ),
  stuck(
    'image-that-nobody-can-pull',
    20,
    rounds(16, (n) => [
      after(15, bash('sleep 15', '')),
      bash(
        'kubectl get pods -n shop',
        `NAME                   READY   STATUS             RESTARTS   AGE\nweb-6f7d8b9c4d-x2x5v   0/1     ImagePullBackOff   0          ${n}m${n}s`,
      ),
    ]),
  ),
  stuck(
    'volume-that-is-not-bound',
    14,
    rounds(20, (n) =>
      ok(
        'mcp__k8s__pod_status',
        { name: 'db-0', namespace: 'prod' },
        `{"phase":"Pending","age":"${n * 2}m","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"pod has unbound immediate PersistentVolumeClaims"}]}`,
      ),
    ),
    30,
  ),
]

const runId = (n: number) => 9_912_345_000 + n * 7_919

const pipelines: Scenario[] = [
  stuck(
    'workflow-that-fails-again',
    14,
    rounds(7, (n) => [
      bash(
        'gh workflow run ci.yml --ref fix',
        `✓ Created workflow_dispatch event for ci.yml at fix\nhttps://github.com/acme/shop/actions/runs/${runId(n)}`,
      ),
      bashFailed(
        `gh run watch ${runId(n)} --exit-status`,
        `✓ fix CI · ${runId(n)}\nJOBS\nX test in 1m12s (ID ${runId(n) + 3})\n  ✓ Set up job\n  X Run npm test\nexit status 1`,
      ),
      bash(
        `gh run view ${runId(n)} --log-failed | tail -3`,
        'test\tRun npm test\tError: Cannot find module ./dist/index.js\ntest\tRun npm test\tProcess completed with exit code 1.',
      ),
    ]),
    90,
  ),
  stuck(
    'pipeline-with-looks-between',
    26,
    rounds(8, (n) => [
      ok(
        'gitlab_create_pipeline',
        { project: 'shop/api', ref: 'main' },
        `{"id":${440_120 + n * 13},"status":"created","ref":"main"}`,
      ),
      ...Array.from({ length: 1 + (n % 3) }, () =>
        ok(
          'gitlab_get_pipeline',
          { project: 'shop/api', pipeline_id: 440_120 + n * 13 },
          `{"id":${440_120 + n * 13},"status":"running","ref":"main"}`,
        ),
      ),
      ok(
        'gitlab_get_pipeline',
        { project: 'shop/api', pipeline_id: 440_120 + n * 13 },
        `{"id":${440_120 + n * 13},"status":"failed","ref":"main","failure_reason":"script_failure"}`,
      ),
    ]),
    40,
  ),
  stuck(
    'build-with-another-number',
    20,
    rounds(8, (n) => [
      ok('jenkins_build_job', { job: 'deploy-api' }, `Started build #${210 + n}`),
      ok(
        'jenkins_get_build',
        { job: 'deploy-api', number: 210 + n },
        `{"number":${210 + n},"result":"FAILURE","duration":${31_000 + n * 17}}`,
      ),
      ok(
        'jenkins_get_log',
        { job: 'deploy-api', number: 210 + n },
        'ERROR: Could not find credentials entry with ID registry-token\nFinished: FAILURE',
      ),
    ]),
    60,
  ),
]

const refusals: Scenario[] = [
  stuck(
    'searches-without-the-right',
    8,
    rounds(10, (n) =>
      failed(
        'desk_search',
        { query: turnOf(casts, n) },
        `error 403 Forbidden: You do not have access to this page. (x-request-id: af69ec8${n % 10}-1${n % 10}eb-e${200 + n}, ${190 + n} ms)`,
      ),
    ),
  ),
  stuck(
    'edits-that-find-no-text',
    14,
    rounds(10, (n) => [
      failed(
        'replace',
        {
          file_path: '/app/values.go',
          old_string: `${' '.repeat(n)}if v == nil {\n  x${n}`,
          new_string: 'y',
        },
        `Failed to edit, 0 occurrences found for old_string. Original old_string was (${' '.repeat(n)}if v == nil {\n  x${n}). No edits made.`,
      ),
    ]),
  ),
]

export const persistentLoops: Scenario[] = [...edits, ...pods, ...pipelines, ...refusals]
