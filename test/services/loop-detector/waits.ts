// The waits of hosts, and calls that only look like one. One row a case: the calls of a lap with
// their answers. The laps come again and again.

/** `poller`: the host's profile declares the tool. `first`: a call before the laps. */
export type WaitCase = {
  id: string
  first?: WaitCall
  lap: WaitCall[]
}
export type WaitCall = {
  tool: string
  args: Record<string, unknown>
  answer: string
  failed?: true
  poller?: true
}

const call = (tool: string, args: Record<string, unknown>, answer: string): WaitCall => ({
  tool,
  args,
  answer,
})
const poller = (tool: string, args: Record<string, unknown>, answer: string): WaitCall => ({
  tool,
  args,
  answer,
  poller: true,
})
const failed = (tool: string, args: Record<string, unknown>, answer: string): WaitCall => ({
  tool,
  args,
  answer,
  failed: true,
})
const one = (id: string, ...lap: WaitCall[]): WaitCase => ({ id, lap })

const codexRunning =
  'Chunk ID: 1a2b3c\nWall time: 5.0012 seconds\nProcess running with session ID 4711\nOriginal token count: 0\nOutput:\n'
const codexExited =
  'Chunk ID: 9f8e7d\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\n'
const openHandsSilent =
  '[The command has no new output after 10.0 seconds. You may wait longer to see additional output by sending empty command \'\', send other text to interact with the current process, send keys like "C-c", "C-z", "C-d" to interrupt/kill the previous command before sending your new command, or use the timeout parameter in terminal for future commands.]\n[Current working directory: /w]'

const backgroundOutput = '/tmp/claude-0/tasks/b7f.output'
const emptyFile =
  '<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>'
const background = call(
  'Bash',
  { command: 'make all', run_in_background: true },
  `Command running in background with ID: b7f. Output is being written to: ${backgroundOutput}. You will be notified.`,
)

const startJob = call('start_job', { name: 'b' }, '{"job_id":"j-12"}')
/** One look at a job that an earlier call started, with its answer. */
const job = (id: string, answer: string): WaitCase => ({
  id,
  first: startJob,
  lap: [call('get_job', { job_id: 'j-12' }, answer)],
})
const bash = (id: string, command: string, answer: string): WaitCase =>
  one(id, call('bash', { command }, answer))
const codexStart = call('exec_command', { cmd: 'make' }, 'Process running with session ID 7')

/** Words of real hosts and services, which say little. */
const quietLooks: WaitCase[] = [
  bash('claude-sleep-no-output', 'sleep 1; cat empty.txt', '(Bash completed with no output)'),
  bash('claude-sleep-alone', 'sleep 5', '(Bash completed with no output)'),
  {
    id: 'claude-background-no-output',
    first: background,
    lap: [call('Bash', { command: `cat ${backgroundOutput}` }, '(Bash completed with no output)')],
  },
  bash('sleep-two-looks', 'sleep 30 && git status && ls', 'clean'),
  bash('sleep-after-look', 'tail -1 b.log; sleep 30', 'compiling'),
  bash('sleep-describe', 'sleep 9; aws rds describe-db-instances --query x', 'a'),
  bash('sleep-query', 'sleep 9; psql -c "select state from jobs"', 'a'),
  bash('sleep-in-a-loop', 'until curl -sf localhost:80; do sleep 5; done', 'a'),
  bash('sleep-of-python', 'python3 -c "import time; time.sleep(30)"', ''),
  job('job-not-ready-yet', 'Result not ready yet, try again later'),
  job('job-not-complete', '{"isComplete": false}'),
  job('job-not-done', '{"id":"j-12","done":false}'),
  job('job-not-finished', '{"id":"j-12","started_at":"2026-01-01","finished_at":null}'),
  job('job-resource', '{"id":"j-12","status":"waiting_for_resource","stages":[]}'),
  job('job-resource-line', 'status: waiting_for_resource'),
  job('job-dots', '...'),
  job('job-none', 'None'),
  job('job-update', '{"id":"j-12","StackStatus":"UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"}'),
  one(
    'pipeline-stages',
    call(
      'get_pipeline',
      { id: 9 },
      '[{"name":"build","status":"success"},{"name":"test","status":"running"},{"name":"ship","status":"created"}]',
    ),
  ),
  one('agent-works', call('poll_agent', { agent_id: 'a77' }, 'Agent a77: working')),
  one(
    'http-accepted',
    call('http_get', { url: 'http://x/jobs/1' }, 'HTTP/1.1 202 Accepted\nRetry-After: 10\n\n'),
  ),
  bash('stack-created', 'aws cloudformation describe-stacks --query x', 'CREATE_IN_PROGRESS'),
  bash('database-created', 'aws rds describe-db-instances --query x', '"creating"'),
  bash('container-starts', 'docker inspect -f "{{.State.Health.Status}}" db', 'starting'),
  bash('sentence-alone', './deploy.sh status', 'The deployment is still in progress.'),
  bash('shell-jobs', 'jobs', '[1]+  Running                 make &'),
  bash(
    'squeue-pending',
    'squeue -j 4711',
    'JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n4711 debug a root PD 0:00 1 (Priority)',
  ),
  ...['Pending', 'ContainerCreating', 'PodInitializing', 'Init:0/1', 'Terminating', 'Running'].map(
    (state) =>
      bash(
        `pod-${state}`,
        'kubectl get pods -l app=shop',
        `NAME READY STATUS RESTARTS AGE\nshop-6c4 0/1 ${state} 0 45s`,
      ),
  ),
  bash(
    'pod-init-without-header',
    'kubectl get pods --no-headers',
    'shop-6c4   0/1   Init:1/2   0   9s',
  ),
  one(
    'pods-of-a-server',
    call('pods_list', { namespace: 'shop' }, 'NAME READY STATUS AGE\nshop-6c4 0/1 Pending 45s'),
  ),
  one(
    'deployment-progressing',
    call(
      'get_deployment_status',
      { name: 'shop' },
      '{"ready":1,"desired":3,"phase":"Progressing"}',
    ),
  ),
  ...['Updating', 'InProgress', 'Terminating', 'Provisioning'].map((state) =>
    bash(
      `cloud-${state}`,
      'curl -s https://cloud.example/shop',
      `{"name":"shop","properties":{"provisioningState":"${state}"}}`,
    ),
  ),
  bash('cloud-updating-alone', 'az aks show --query provisioningState', 'Updating'),
  bash('cloud-progressing-alone', 'argocd app get shop -o health', 'Progressing'),
  bash('github-run-line', 'gh run view 5120', '* Run Nightly build (5120) in progress'),
  // The state file of a running build is a wait, unlike any other document.
  bash('state-file', 'cat build.status', 'running'),
  one('state-file-read', call('Read', { file_path: '/w/job-7/state' }, 'pending')),
  one(
    'state-file-with-id',
    call('Read', { file_path: '/w/job.json' }, '{"id":7,"status":"running"}'),
  ),
  {
    id: 'state-file-of-a-known-job',
    first: startJob,
    lap: [call('Read', { file_path: '/w/j-12.json' }, '{"status":"running"}')],
  },
  {
    id: 'codex-no-chars',
    first: codexStart,
    lap: [call('write_stdin', { session_id: 7 }, 'Output:\n')],
  },
  {
    id: 'codex-empty-chars',
    first: codexStart,
    lap: [call('write_stdin', { session_id: 7, chars: '' }, '')],
  },
  {
    id: 'terminal-empty-input',
    first: call('terminal', { input: 'make' }, '[no new output]'),
    lap: [call('terminal', { input: '' }, '')],
  },
  {
    id: 'process-log',
    first: call('bash', { command: 'make' }, 'Command still running (session quick-lake, pid 12)'),
    lap: [call('process', { action: 'log', sessionId: 'quick-lake' }, '(no output yet)')],
  },
  one(
    'process-poll',
    call(
      'process',
      { action: 'poll', sessionId: 'quick-lake' },
      '(no new output)\n\nProcess still running.',
    ),
  ),
]

export const silentWaits: WaitCase[] = [
  // Claude Code
  {
    id: 'claude-read-background-output',
    first: background,
    lap: [call('Read', { file_path: backgroundOutput }, emptyFile)],
  },
  {
    id: 'claude-hooks-background-output',
    first: call(
      'Bash',
      { command: 'make all' },
      '{"stdout":"","stderr":"","backgroundTaskId":"b7f41c"}',
    ),
    lap: [
      call(
        'Read',
        { file_path: '/tmp/claude-0/tasks/b7f41c.output' },
        '{"type":"text","file":{"filePath":"/tmp/claude-0/tasks/b7f41c.output","content":"","numLines":1}}',
      ),
    ],
  },
  {
    id: 'claude-tail-background-output',
    first: background,
    lap: [call('Bash', { command: `tail -n 20 ${backgroundOutput}` }, '')],
  },
  one(
    'claude-bash-output',
    poller(
      'BashOutput',
      { bash_id: 'bash_1' },
      '<status>running</status>\n\n<timestamp>2026-05-01T08:00:00Z</timestamp>',
    ),
  ),
  one(
    'claude-bash-output-undeclared',
    call('BashOutput', { bash_id: 'bash_1' }, '<status>running</status>'),
  ),
  one(
    'claude-task-output',
    poller(
      'TaskOutput',
      { task_id: 'b7f', block: true, timeout: 30000 },
      '<retrieval_status>timeout</retrieval_status>\n\n<task_id>b7f</task_id>\n\n<task_type>local_bash</task_type>\n\n<status>running</status>',
    ),
  ),
  one(
    'claude-task-output-undeclared',
    call(
      'TaskOutput',
      { task_id: 'b7f', block: true, timeout: 30000 },
      '<retrieval_status>not_ready</retrieval_status>\n\n<task_id>b7f</task_id>\n\n<status>running</status>',
    ),
  ),
  one(
    'claude-subagent',
    poller('AgentOutputTool', { agentId: 'a1', block: true }, 'Agent a1 is still running.'),
  ),
  one('claude-sleep', call('Bash', { command: 'sleep 60', description: 'Wait for the build' }, '')),
  one(
    'claude-sleep-and-look',
    call('Bash', { command: 'sleep 30 && tail -1 /tmp/build.log' }, 'compiling core'),
  ),
  one(
    'claude-sleep-then-look',
    call('Bash', { command: 'sleep 30' }, ''),
    call('Read', { file_path: '/tmp/build.log' }, '     1\tcompiling core'),
  ),
  // Codex
  one(
    'codex-write-stdin',
    call('write_stdin', { session_id: 4711, chars: '', yield_time_ms: 5000 }, codexRunning),
  ),
  one(
    'codex-write-stdin-declared',
    poller(
      'write_stdin',
      { session_id: 4711, chars: '', yield_time_ms: 250, max_output_tokens: 2000 },
      codexRunning,
    ),
  ),
  one(
    'codex-write-stdin-no-chars',
    call('write_stdin', { session_id: 4711, yield_time_ms: 60000 }, codexRunning),
  ),
  one(
    'codex-exec-sleep',
    call(
      'exec_command',
      { cmd: 'sleep 20; curl -s localhost:8080/health', yield_time_ms: 30000 },
      `${codexExited}starting up`,
    ),
  ),
  one(
    'codex-exec-look',
    call(
      'exec_command',
      { cmd: 'gh run view 77 --json status -q .status', yield_time_ms: 5000 },
      `${codexExited}in_progress`,
    ),
  ),
  one(
    'codex-wait-agent',
    poller('wait', { ids: ['a-1'], timeout_ms: 30000 }, '{"status":{},"timed_out":true}'),
  ),
  // OpenHands
  one('openhands-empty-command', call('terminal', { command: '' }, openHandsSilent)),
  one(
    'openhands-execute-bash',
    call('execute_bash', { command: '', is_input: 'false' }, openHandsSilent),
  ),
  one('openhands-is-input', call('terminal', { command: '', is_input: true }, 'Building [1]')),
  // Copilot CLI
  one(
    'copilot-read-bash',
    poller(
      'read_bash',
      { shellId: '0', delay: 10 },
      '<command with shellId: 0 is still running after 10 seconds. The command is still running and may produce more output.>',
    ),
  ),
  one(
    'copilot-read-bash-undeclared',
    call(
      'read_bash',
      { shellId: '0', delay: 10 },
      '<command with shellId: 0 is still running after 10 seconds.>',
    ),
  ),
  one(
    'copilot-read-agent',
    poller(
      'read_agent',
      { agent_id: 'explore-1', wait: true, timeout: 60 },
      'Agent is still running. agent_id: explore-1, status: running',
    ),
  ),
  // Gemini CLI
  one(
    'gemini-list-declared',
    poller('list_background_processes', {}, '- [PID 812] RUNNING: `npm run build`'),
  ),
  one(
    'gemini-read-background',
    poller('read_background_output', { pid: 812, delay_ms: 5000 }, 'Log is empty.'),
  ),
  {
    id: 'gemini-list-background',
    first: call(
      'run_shell_command',
      { command: 'npm run build', is_background: true },
      'Command is running in background. PID: 812. Initial output:\n',
    ),
    lap: [call('list_background_processes', {}, '- [PID 812] RUNNING: `npm run build`')],
  },
  // OpenCode, Cursor, Cline, Amp and others
  one(
    'opencode-sleep-gh',
    call(
      'bash',
      { command: 'sleep 15; gh pr checks 12', description: 'Check again' },
      'build\tpending\t0\thttps://ci.test/1',
    ),
  ),
  one(
    'opencode-task-status',
    poller(
      'task_status',
      { task_id: 't1', wait: true, timeout_ms: 60000 },
      'task_id: t1\nstate: running',
    ),
  ),
  one(
    'cline-terminal',
    call(
      'get_terminal_output',
      { id: 'term-2' },
      "Command is still running in the user's terminal.",
    ),
  ),
  // MCP servers
  one(
    'mcp-job-status',
    call(
      'mcp__builds__get_job',
      { job_id: 'j-12' },
      '{"job_id":"j-12","status":"running","progress":null}',
    ),
  ),
  one('mcp-job-queued', call('get_job', { id: 12 }, '{"data":{"id":12,"state":"QUEUED"}}')),
  one(
    'mcp-envelope',
    call('job_status', { id: 12 }, '{"status":"success","data":{"id":12,"status":"pending"}}'),
  ),
  one(
    'mcp-task',
    call('tasks_get', { taskId: 'x' }, '{"taskId":"x","status":"working","ttl":60000}'),
  ),
  one(
    'mcp-operation',
    call('get_operation', { name: 'operations/7' }, '{"name":"operations/7","done":false}'),
  ),
  {
    id: 'mcp-empty-logs',
    first: call('start_job', { kind: 'index' }, '{"job_id":"idx-7","accepted":true}'),
    lap: [call('job_logs', { job_id: 'idx-7' }, '')],
  },
  {
    id: 'mcp-empty-session',
    first: call('open_session', {}, 'Opened session s-41'),
    lap: [call('read_session', { session_id: 's-41' }, '(no output)')],
  },
  one('mcp-wait-tool', call('wait_for_job', { id: 3, timeout: 30 }, 'still running')),
  one(
    'mcp-waits-itself',
    call('get_run', { run_id: 'r9', wait: true }, '{"run":{"id":"r9","logs":"compile"}}'),
  ),
  one('mcp-not-ready', call('export_status', { export_id: 'e1' }, 'The export is not ready yet.')),
  // Services
  one(
    'github-run',
    call(
      'actions_get_workflow_run',
      { owner: 'o', repo: 'r', run_id: 77 },
      '{"id":77,"name":"CI","status":"in_progress","conclusion":null,"head_commit":{"id":"abc","message":"x"}}',
    ),
  ),
  one(
    'github-jobs',
    call(
      'list_workflow_jobs',
      { run_id: 77 },
      '{"total_count":2,"jobs":[{"id":1,"status":"completed","conclusion":"success"},{"id":2,"status":"queued","conclusion":null}]}',
    ),
  ),
  one(
    'github-run-shell',
    call(
      'shell',
      { command: 'gh run list --limit 1' },
      'in_progress\tfix: x\tCI\tmain\tpush\t77\t3m2s\t2026-05-01',
    ),
  ),
  one(
    'kubectl-pods',
    call(
      'shell',
      { command: 'kubectl get pods' },
      'NAME    READY   STATUS              RESTARTS   AGE\nweb-1   0/1     ContainerCreating   0          5s',
    ),
  ),
  one(
    'kubectl-pods-with-one-blank',
    call(
      'shell',
      { command: 'kubectl get pods' },
      'NAME READY STATUS RESTARTS AGE\nweb-1 0/1 ContainerCreating 0 5s',
    ),
  ),
  one(
    'azure-updating',
    call('shell', { command: 'az aks show' }, '{"provisioningState":"Updating"}'),
  ),
  one('run-in-progress', call('shell', { command: 'gh run list' }, '* Run CI (88123) in progress')),
  one(
    'kubectl-not-ready',
    call(
      'kubectl_get',
      { resource: 'pods', namespace: 'web' },
      'NAME    READY   STATUS    RESTARTS   AGE\nweb-1   0/1     Running   0          40s',
    ),
  ),
  one(
    'kubectl-rollout',
    call(
      'bash',
      { command: 'kubectl rollout status deploy/web --timeout=20s' },
      'Waiting for deployment "web" rollout to finish: 0 of 3 updated replicas are available...',
    ),
  ),
  one(
    'browser-wait',
    call('browser_wait_for', { time: 5 }, 'Waited for 5'),
    call('browser_snapshot', {}, '- main: Loading'),
  ),
  one(
    'subagents',
    call(
      'list_agents',
      {},
      '{"agents":[{"id":"a","status":"running"},{"id":"b","status":"completed"}]}',
    ),
  ),
  one(
    'two-jobs',
    call('get_job', { id: 'a' }, '{"status":"running"}'),
    call('get_job', { id: 'b' }, '{"status":"running"}'),
  ),
  one('slurm', call('bash', { command: 'sacct -j 5 -n -o state' }, '   PENDING')),
  ...quietLooks,
]

/** The thing is gone, over or refused, so each must be noticed within eight calls. */
export const fakeWaits: WaitCase[] = [
  one('claude-empty-file', call('Read', { file_path: '/w/notes.md' }, emptyFile)),
  {
    id: 'claude-other-empty-file',
    first: background,
    lap: [call('Read', { file_path: '/tmp/claude-0/tasks/b8.output' }, emptyFile)],
  },
  one('claude-unknown-shell', {
    ...failed('BashOutput', { bash_id: 'bash_9' }, 'No shell found with ID: bash_9'),
    poller: true,
  }),
  one(
    'claude-completed',
    poller(
      'BashOutput',
      { bash_id: 'bash_1' },
      '<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<stdout>\nok\n</stdout>',
    ),
  ),
  one(
    'claude-killed',
    poller(
      'TaskOutput',
      { task_id: 'b7f', block: true, timeout: 30000 },
      '<retrieval_status>success</retrieval_status>\n\n<task_id>b7f</task_id>\n\n<status>killed</status>',
    ),
  ),
  one(
    'claude-failed-agent',
    poller(
      'AgentOutputTool',
      { agentId: 'a1', block: true },
      '<status>failed</status>\n<error>out of tokens</error>',
    ),
  ),
  one(
    'codex-unknown-process',
    poller(
      'write_stdin',
      { session_id: 99, chars: '', yield_time_ms: 1000 },
      'write_stdin failed: Unknown process id 99',
    ),
  ),
  one(
    'codex-exited',
    poller(
      'write_stdin',
      { session_id: 4711, chars: '', yield_time_ms: 1000 },
      'Chunk ID: 9f8e7d\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 0\nOutput:\n',
    ),
  ),
  one(
    'codex-sends-input',
    poller(
      'write_stdin',
      { session_id: 4711, chars: 'y\n', yield_time_ms: 1000 },
      codexRunning.replace(/$/, 'Continue? [y/n]'),
    ),
  ),
  one(
    'codex-looping-command',
    call(
      'exec_command',
      { cmd: 'cat build.txt', yield_time_ms: 1000 },
      `${codexExited}the build file`,
    ),
  ),
  one(
    'codex-starts-again',
    call('exec_command', { cmd: 'npm run dev', yield_time_ms: 1000 }, codexRunning),
  ),
  one('claude-starts-again', background),
  one(
    'gemini-starts-again',
    call(
      'run_shell_command',
      { command: 'npm run build', is_background: true },
      'Command is running in background. PID: 812. Initial output:\n',
    ),
  ),
  one(
    'openhands-nothing-runs',
    call('terminal', { command: '' }, 'No previous running command to retrieve logs from.'),
  ),
  one('openhands-empty', call('execute_bash', { command: '' }, '')),
  one(
    'copilot-invalid-shell',
    poller(
      'read_bash',
      { shellId: '7', delay: 10 },
      'Invalid shell ID: 7. Please supply a valid shell ID to read output from.',
    ),
  ),
  one(
    'copilot-exited',
    poller(
      'read_bash',
      { shellId: '0', delay: 10 },
      '<command with shellId: 0 exited with exit code 0>',
    ),
  ),
  one(
    'gemini-denied',
    poller(
      'read_background_output',
      { pid: 9, delay_ms: 5000 },
      "Access denied. Background process ID 9 not found in this session's history.",
    ),
  ),
  one('gemini-none', call('list_background_processes', {}, 'No background processes found.')),
  one('mcp-completed', call('get_job', { id: 12 }, '{"id":12,"status":"completed"}')),
  one(
    'mcp-failed',
    poller('get_job', { id: 12 }, '{"id":12,"status":"failed","error":"disk full"}'),
  ),
  one('mcp-cancelled', poller('job_status', { id: 12 }, 'Job 12 was cancelled.')),
  one('mcp-not-found', call('job_status', { id: 12 }, '{"error":"job not found"}')),
  one(
    'mcp-waits-for-nothing',
    call('get_run', { run_id: 'r9', wait: true }, 'Run r9 does not exist.'),
  ),
  one('mcp-unknown-id', call('job_logs', { job_id: 'made-up' }, '')),
  one('mcp-refuses', { ...failed('job_status', { id: 12 }, '403 forbidden'), poller: true }),
  one('mcp-expired', poller('read_session', { session_id: 's-41' }, 'The session has expired.')),
  one(
    'mcp-envelope-over',
    call('job_status', { id: 12 }, '{"status":"success","data":{"id":12,"status":"failed"}}'),
  ),
  one(
    'github-concluded',
    call(
      'actions_get_workflow_run',
      { run_id: 77 },
      '{"id":77,"status":"completed","conclusion":"failure","steps":[{"status":"queued"}]}',
    ),
  ),
  one(
    'kubectl-ready',
    call(
      'shell',
      { command: 'kubectl get pods' },
      'NAME    READY   STATUS    RESTARTS   AGE\nweb-1   1/1     Running   0          5m',
    ),
  ),
  one(
    'sleep-for-the-dead',
    call(
      'bash',
      { command: 'sleep 5; cat /proc/812/status' },
      'cat: /proc/812/status: No such file or directory',
    ),
  ),
  one(
    'mail-queued',
    call('send_mail', { to: 'p@a.test', body: 'The meeting is at ten.' }, 'queued'),
  ),
  one('trigger-queued', call('trigger_build', { branch: 'main' }, '{"status":"queued"}')),
  one(
    'test-log',
    call(
      'bash',
      { command: 'cargo test' },
      `running 3 tests\ntest a ... ok\ntest b ... FAILED\n${'detail of the failure\n'.repeat(40)}`,
    ),
  ),
  one(
    'short-test-log',
    call('bash', { command: 'npm test' }, '> app@1.0.0 test\n> jest\n\nrunning 3 suites\n3 passed'),
  ),
  one(
    'document',
    call(
      'read_file',
      { path: 'runbook.md' },
      `# Runbook\n\nIf the job is running, look at the queue. A pending job needs no help.\n${'More about jobs that are pending or in progress.\n'.repeat(30)}`,
    ),
  ),
  one(
    'short-document',
    call(
      'read_file',
      { path: 'notes.md' },
      'The deploy job is running if the lamp is green, and pending jobs wait in the queue.',
    ),
  ),
  one(
    'server-is-up',
    call('bash', { command: 'curl -s localhost:3000' }, 'Server is running on port 3000'),
  ),
  one(
    'tickets',
    call(
      'list_tickets',
      { team: 'a' },
      '[{"id":1,"status":"pending"},{"id":2,"status":"in progress"},{"id":3,"status":"open"}]',
    ),
  ),
  one('wait-member-of-a-read', call('read_file', { path: 'a.txt', wait: true }, 'text of a')),
  one(
    'task-never-was',
    poller('TaskOutput', { task_id: 'b1', block: true }, 'No task found with ID: b1'),
  ),
  one(
    'silent-and-exited',
    call(
      'process',
      { action: 'poll', sessionId: 'q' },
      '(no new output)\n\nProcess exited with code 0.',
    ),
  ),
  one(
    'silent-and-killed',
    call(
      'process',
      { action: 'poll', sessionId: 'q' },
      '(no new output)\n\nProcess exited with signal SIGKILL.',
    ),
  ),
  one(
    'mcp-was-running',
    call('get_job', { id: 'j' }, '{"status":"cancelled","previous_status":"running"}'),
  ),
  one(
    'mcp-was-running-first',
    call('get_job', { id: 'j' }, '{"previous_status":"running","status":"cancelled"}'),
  ),
  one('mcp-none-runs', call('get_job', { job_id: 'j' }, 'No job with id j is running.')),
  one('stack-failed', call('get_stack', { id: 1 }, '{"StackStatus":"ROLLBACK_COMPLETE"}')),
  one('codex-no-session', call('write_stdin', { session_id: 0, chars: '' }, '')),
  one('terminal-nothing-runs', call('terminal', { input: '' }, '')),
  one(
    'sleeps-grow',
    ...Array.from({ length: 8 }, (_, n) =>
      call('bash', { command: `sleep ${n + 1}; cat /nope` }, 'cat: /nope: No such file'),
    ),
  ),
  bash(
    'pod-runs',
    'kubectl get pods',
    'NAME READY STATUS RESTARTS AGE\nshop-6c4 1/1 Running 0 45s',
  ),
  bash(
    'pod-crashes',
    'kubectl get pods',
    'NAME READY STATUS RESTARTS AGE\nshop-6c4 0/1 CrashLoopBackOff 4 45s',
  ),
  bash(
    'cloud-succeeded',
    'curl -s https://cloud.example/shop',
    '{"provisioningState":"Succeeded"}',
  ),
  bash('github-run-failed', 'gh run view 5120', 'X Run Nightly build (5120) failed'),
  // The repeated thing is the command, and the sleep next to it changes nothing.
  bash('sleep-and-test', 'sleep 1 && npm test', 'Tests: 1 failed, 3 passed'),
  bash('test-and-sleep', 'npm test; sleep 1', 'Tests: 1 failed, 3 passed'),
  bash('sleep-and-commit', 'sleep 1; git commit -m x', 'nothing to commit'),
  bash('sleep-in-a-test-loop', 'while true; do npm test; sleep 5; done', 'Tests: 1 failed'),
  bash('sleep-for-the-missing', 'sleep 2; cat nope 2>/dev/null || echo missing', 'missing'),
  bash('short-sleep', 'sleep 0.1; ls', 'a b'),
  bash(
    'pending-in-its-own-text',
    'node report.js',
    'Report of the week\n\nThe third chapter is pending.\nWords: 4100',
  ),
  // The answer is in the arguments, in a name, or in a text that nobody changes.
  bash('echo', 'echo running', 'running'),
  bash('names', 'ls', 'running\npending'),
  one('names-of-a-tool', call('list_directory', { path: '/w' }, 'running\npending')),
  bash('state-of-a-document', 'cat state.json', '{"status":"running"}'),
  bash('state-in-a-document', 'grep status a.txt', 'status: running'),
  one('read-of-a-document', call('read', { path: 'doc.md' }, '{"status":"running"}')),
  one('search', call('search', { q: 'x' }, 'pending')),
]
