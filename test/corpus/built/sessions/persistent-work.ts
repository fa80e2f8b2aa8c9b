// Honest work that looks like persistent-loops.ts: errors that a series of edits mends one after the
// other, waits that end, runs that are started again after a change, and pages.

import type { Scenario } from '../../../../apps/replay/judge/scenario.ts'
import { ok, rounds, turnOf, word } from '../trace.ts'
import { after, bash, bashFailed, exec, execFailed, work } from './session.ts'

const edited = (path: string, n: number) =>
  ok(
    'Edit',
    { file_path: path, old_string: `value${n}()`, new_string: `await value${n}()` },
    `The file ${path} has been updated successfully.`,
  )

const edits: Scenario[] = [
  work('errors-one-after-the-other', [
    rounds(14, (n) => [
      edited('/app/src/cart.ts', n),
      bashFailed(
        'npx tsc --noEmit',
        `src/cart.ts(${10 + n * 9},${3 + (n % 5)}): error TS2304: Cannot find name 'value${n}'.`,
      ),
    ]),
    bash('npx tsc --noEmit', ''),
  ]),
  work('type-errors-that-grow-fewer', [
    rounds(12, (n) => [
      edited('/app/src/cart.ts', n),
      bashFailed(
        'npx tsc --noEmit 2>&1 | tail -1',
        `Found ${13 - n} errors in src/cart.ts, starting at line 4`,
      ),
    ]),
    bash('npx tsc --noEmit 2>&1 | tail -1', ''),
  ]),
  work('one-old-failure-during-a-refactoring', [
    rounds(14, (n) => [
      edited('/app/src/cart.ts', n),
      bashFailed(
        'npm test',
        `FAIL src/clock.test.ts\n  ● clock › knows the time zone\n\n    expect(received).toBe(expected)\n\nTests:       1 failed, 41 passed, 42 total\nTime:        ${(3 + n * 0.137).toFixed(3)} s`,
      ),
    ]),
  ]),
  work('many-files-with-one-error-until-the-end', [
    rounds(14, (n) => [
      edited(`/app/src/handlers/${word(n, 6)}.ts`, n),
      bashFailed(
        'npm run build',
        "src/index.ts:3:10 - error TS2305: Module './handlers/index.ts' has no exported member 'all'.",
      ),
    ]),
    bash('npm run build', 'built in 1.2 s'),
  ]),
  work('a-suite-that-stays-green', [
    rounds(16, (n) => [
      edited('/app/src/cart.ts', n),
      bash('npm test -- cart 2>&1 | tail -4', 'Tests:       12 passed, 12 total\n0 failed'),
    ]),
  ]),
  work('test-first', [
    rounds(12, (n) => [
      ok(
        'Edit',
        {
          file_path: '/app/src/tax.test.ts',
          old_string: '// next',
          new_string: `it('has case ${n}', () => {}) // next`,
        },
        'The file /app/src/tax.test.ts has been updated successfully.',
      ),
      bashFailed(
        'npx jest tax',
        `FAIL src/tax.test.ts\n  ● has case ${n}\n\n    TypeError: tax.case${n} is not a function\n\nTests: 1 failed, ${n} passed`,
      ),
      edited('/app/src/tax.ts', n),
      bash('npx jest tax', `PASS src/tax.test.ts\nTests: ${n + 1} passed`),
    ]),
  ]),
  work('a-hard-error-that-goes-in-the-end', [
    rounds(6, (n) => [
      edited('/app/src/pool.rs', n),
      execFailed(
        'cargo build',
        'error[E0502]: cannot borrow `self.items` as mutable because it is also borrowed as immutable\n  --> src/pool.rs:41:13',
      ),
    ]),
    edited('/app/src/pool.rs', 9),
    exec('cargo build', 'Finished dev profile'),
  ]),
]

const waits: Scenario[] = [
  work('pod-that-waits-for-a-node', [
    rounds(14, (n) =>
      after(
        30,
        bash(
          'kubectl get pods -l app=train',
          `NAME      READY   STATUS    RESTARTS   AGE\ntrain-0   0/1     Pending   0          ${Math.floor(n / 2)}m${n % 2 === 0 ? '' : '30s'}`,
        ),
      ),
    ),
    bash(
      'kubectl get pods -l app=train',
      'NAME      READY   STATUS    RESTARTS   AGE\ntrain-0   1/1     Running   0          8m',
    ),
  ]),
  work('node-that-a-cluster-adds', [
    rounds(7, (n) =>
      after(
        40,
        bash(
          'kubectl describe pod train-0 | tail -3',
          `  Warning  FailedScheduling  ${n}m (x${n} over ${n}m)  default-scheduler  0/3 nodes are available: 3 Insufficient cpu.\n  Normal  TriggeredScaleUp  ${n}m  cluster-autoscaler  pod triggered scale-up`,
        ),
      ),
    ),
    bash('kubectl get pod train-0', 'train-0   1/1   Running   0   6m'),
  ]),
  work('queue-of-a-cluster', [
    rounds(60, () =>
      after(
        45,
        bash(
          'squeue -j 8812',
          '  JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n   8812       gpu    train      ada PD       0:00      4 (Resources)',
        ),
      ),
    ),
    bash(
      'squeue -j 8812',
      '  JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n   8812       gpu    train      ada  R       0:12      4 n[1-4]',
    ),
  ]),
  work('rollout-that-outlasts-its-looks', [
    rounds(16, (n) =>
      after(
        31,
        bashFailed(
          'kubectl rollout status deploy/api --timeout=30s',
          `Waiting for deployment "api" rollout to finish: ${2 * n} out of 34 new replicas have been updated...\nerror: timed out waiting for the condition`,
        ),
      ),
    ),
    bash('kubectl rollout status deploy/api --timeout=30s', 'deployment "api" rolled out'),
  ]),
  work('publication-with-growing-pauses', [
    rounds(6, (n) =>
      after(
        10 * 2 ** n,
        bashFailed(
          `sleep ${10 * 2 ** n} && npm publish`,
          `npm notice Publishing to https://npm.example.com/ with tag latest\nnpm error code E503\nnpm error 503 Service Unavailable - PUT https://npm.example.com/forms\nnpm error A complete log of this run can be found in: /home/ada/.npm/_logs/2027-03-04T09_1${n}_04_897Z-debug-0.log`,
        ),
      ),
    ),
    bash('sleep 640 && npm publish', '+ forms@3.2.0'),
  ]),
  work('check-that-is-queued', [
    rounds(30, () => after(30, bash('gh pr checks 41', 'build\tpending\t0\thttps://ci/1'))),
    bash('gh pr checks 41', 'build\tpass\t2m\thttps://ci/1'),
  ]),
]

const runId = (n: number) => 9_912_345_000 + n * 7_919

const pipelines: Scenario[] = [
  work('workflow-after-each-fix', [
    rounds(6, (n) => [
      edited('/app/.github/workflows/ci.yml', n),
      bash(
        `git commit -am "ci: try ${word(n, 5)}" && git push`,
        `[fix ${word(n, 7)}] ci\n   1 file changed`,
      ),
      bash(
        'gh run list --limit 1 --json databaseId',
        `[{"databaseId":${runId(n)},"status":"in_progress"}]`,
      ),
      bashFailed(`gh run watch ${runId(n)} --exit-status`, 'X test in 1m2s\nexit status 1'),
      bash(
        `gh run view ${runId(n)} --log-failed | tail -1`,
        `Error: step ${n} of the deployment needs the variable ${word(n, 8)}`,
      ),
    ]),
  ]),
  work('flaky-run-that-passes', [
    rounds(2, (n) => [
      bash(
        'gh workflow run e2e.yml',
        `✓ Created workflow_dispatch event\nhttps://github.com/acme/shop/actions/runs/${runId(n)}`,
      ),
      bashFailed(
        `gh run watch ${runId(n)} --exit-status`,
        'X e2e in 4m10s\nError: browser closed\nexit status 1',
      ),
    ]),
    bash(
      'gh workflow run e2e.yml',
      `✓ Created workflow_dispatch event\nhttps://github.com/acme/shop/actions/runs/${runId(9)}`,
    ),
    bash(`gh run watch ${runId(9)} --exit-status`, '✓ e2e in 4m12s'),
  ]),
  work('queue-of-jobs', [
    rounds(12, (n) => [
      ok('next_job', {}, `{"job_id":${512 + n},"kind":"thumbnail"}`),
      ok(
        'process_job',
        { job_id: 512 + n },
        `{"job_id":${512 + n},"status":"done","errors":0,"failed":false}`,
      ),
    ]),
  ]),
  work('deploys-of-many-services', [
    rounds(8, (n) => [
      ok(
        'start_deployment',
        { service: turnOf(['api', 'web', 'auth', 'mail', 'cron', 'pay', 'ads', 'log'], n) },
        `{"deployment_id":${7100 + n},"status":"queued"}`,
      ),
      ok('get_deployment', { deployment_id: 7100 + n }, `{"status":"succeeded"}`),
    ]),
  ]),
  work('benchmark-that-is-repeated', [
    rounds(5, (n) => [
      ok('start_run', { suite: 'fold', seed: n }, `Started run ${8100 + n}`),
      ok('get_run', { run: 8100 + n }, `{"status":"done","p50_us":${410 + n * 3}}`),
    ]),
  ]),
]

/** Pages and filters of one address, some of them equal. */
const pages: Scenario[] = [
  work('pages-with-equal-empty-ends', [
    rounds(12, (n) =>
      ok(
        'fetch',
        { url: `https://api.example.com/v1/orders?status=open&page=${n}` },
        n < 10
          ? `{"page":${n},"orders":[{"id":${n * 10}},{"id":${n * 10 + 1}}]}`
          : '{"orders":[],"next":null,"total_pages":9,"message":"There are no more orders to show."}',
      ),
    ),
  ]),
  work('filters-that-find-nothing', [
    rounds(12, (n) =>
      ok(
        'fetch_url',
        {
          url: `https://jobs.example.com/search?city=${turnOf(['oslo', 'bergen', 'kyoto', 'lima', 'quito', 'turin', 'porto', 'graz', 'basel', 'ghent', 'lyon', 'bari'], n)}`,
        },
        'Search results\n\n0 jobs match your filters. Save this search to be notified of new jobs in this city.',
      ),
    ),
  ]),
  work('days-without-flights', [
    rounds(14, (n) =>
      ok(
        'browser_navigate',
        {
          url: `https://fly.example.com/find?from=OSL&to=KIX&day=2027-03-${String(n).padStart(2, '0')}`,
        },
        n === 9
          ? 'Page title: Flights\n1 flight: OSL 09:10, KIX 08:55, 812 EUR, one stop in Helsinki, two seats left'
          : 'Page title: Flights\nThere are no flights on this day. Try another day, or another airport nearby.',
      ),
    ),
  ]),
  work('many-ids-with-one-default', [
    rounds(14, (n) =>
      ok(
        'http_get',
        { url: `https://api.example.com/features?user=${8100 + n * 17}` },
        '{"features":{"beta":false,"dark_mode":true,"export":true,"limit":100},"plan":"standard"}',
      ),
    ),
  ]),
  work('checks-of-one-endpoint', [
    rounds(12, (n) =>
      ok(
        'http_request',
        {
          method: 'GET',
          url: `https://shop.example.com/health?region=${turnOf(['eu-1', 'eu-2', 'us-1', 'us-2', 'ap-1', 'ap-2', 'sa-1', 'af-1', 'me-1', 'ca-1', 'oc-1', 'in-1'], n)}`,
        },
        'HTTP/1.1 200 OK\ncontent-type: application/json\n\n{"status":"healthy","database":"healthy","queue":"healthy"}',
      ),
    ),
  ]),
]

export const persistentWork: Scenario[] = [...edits, ...waits, ...pipelines, ...pages]
