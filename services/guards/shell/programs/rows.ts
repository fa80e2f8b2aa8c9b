// The programs that a command may run, with their options and operands. A program, an option or an
// operand that is missing here needs a person.
//
// A row lists an option only if the option runs nothing, and changes nothing that
// its kind or the row's operands do not check.
//
// A row is `name, name: token token …` and continues on indented lines. `git log` is the row of a
// subcommand, and `<name>` takes over the tokens of another row.
// Options: `-abc` are flags, `-k:` has a value, `-o:write` has a checked value, and `-j?` an attached
// one. `-run!` is one word, `-#` is a number, and `/-…/` is a pattern of options.
// Operands: read, write, remove, text, and the other kinds of usage.ts, or a pattern `/^…$/`. `*`
// repeats an operand. `...` takes all words from there on.
// An option with `...` ends the options, so all words after its value are the rest.
// Marks: any-option (every option only reads), net, package (a runner of packages may start it).
// `sub`: a subcommand follows. `here`: it writes in its folder. `unpacks`: it makes files of unknown
// names. `spaced`: no option has an attached value. `versioned`: its name may end with a version.

export const programs = String.raw`
ls, cat, head, tail, wc, grep, egrep, fgrep, cut, tr, nl, od, strings, stat, du, df, basename,
  dirname, realpath, readlink, which, whereis, seq, sleep, uname, whoami, id, groups, users, who,
  uptime, free, pgrep, pidof, pstree, lscpu, lsblk, nproc, printenv, diff, cmp, comm, paste,
  join, fold, fmt, column, expr, tsort, tac, rev, sum, cksum, md5sum, sha1sum, sha256sum, sha512sum,
  hexdump, cal, tty, arch, locale, getconf, logname, factor, expand, unexpand, yes, zcat, zgrep,
  netstat, lsb_release: any-option text*
sudo: -bEHnSk -u: -g: command...
env: -i -u: command...
xargs: -0rtx -n:lot -P: -L:lines -I:mark -d: --null command...
nohup: command...
nice: -# -n: command...
timeout: -v -k: -s: --preserve-status --foreground --signal: /^[\d.]+[smhd]?$/ command...
time: -pv command...
command: -v:message -V:message command...
sh, dash, zsh, bash, ksh, mksh, ash, rbash, yash: spaced -aefilnuvxs -o: -O: -c:code... --login
  --norc --noprofile --posix --version --help /\+[aefilnuvx]+/ shell...
find, gfind: -H! -L! -P! -not! -o! -or! -a! -and! -print! -print0! -prune! -empty! -depth! -mount!
  -xdev! -daystart! -noleaf! -readable! -writable! -executable! -true! -false! -quit! -ls! -delete!
  -name: -iname: -path: -ipath: -wholename: -iwholename: -regex: -iregex: -regextype: -type: -xtype:
  -maxdepth: -mindepth: -atime: -ctime: -mtime: -amin: -cmin: -mmin: -newer: -size: -perm: -user:
  -group: -links: -printf: found*
python, pypy: versioned spaced -uBIEsSOqvV --version --help -W: -X: -c:code... -m:module... file...
node, nodejs, tsx, ts-node: spaced -v -h -e:code -p:code -pe:code --eval:code --print:code file...
  /--(test|watch|check|version|help|no-warnings|trace-|max-|enable-source|experimental-(?!loader)|inspect)[\w=-]*/
perl: versioned spaced -pnlwav0123456789 --version -e:code /-[pnlwa0-9]*i(\.\w+)?/ file...
sqlite3: -header! -csv! -json! -column! -readonly! -line! query...
psql, mysql, mariadb: -tAqXx -h: -U: -u: -p: -D: -d: -c:code -e:code query...
ruby, php, lua, luajit, tclsh, wish, Rscript, osascript, julia, guile, ghci, irb, jshell, groovy,
  ipython, elixir, scala, swift, erl, dc, gnuplot, octave: versioned spaced -v --version --help
  file...
sed, gsed: -nErsuz -e:code --expression:code /-[nErsuz]*i[^\/]*|--in-place(=[^\/]*)?/ edited*
awk, gawk, mawk, nawk: -F: -v: edited...
ps: -AaTdNefFjlyMHLmwcVr -p: -o: -C: -u: -U: -g: -G: -t: -O: --sort: --no-headers --forest --pid:
  --ppid: /^[a-df-zA-Z]+$|^\d[\d,]*$|^[a-z%]+(,[a-z%]+)+$/*
sort: -bdfghiMnrRsVuzcCm -k: -t: -S: -T:write -o:write --output:write --key: --reverse --unique
  --numeric-sort --field-separator: --temporary-directory:write --version-sort read*
uniq: -cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case read write
base64: -diD -w: --decode --wrap: read*
xxd: -abeipur -l: -c: -s: -g: read write
tree: -adflipshuDFrtcvNnCJ -L: -I: -P: --dirsfirst --noreport --gitignore --prune --du read*
file: -bihkLNnrs0 -F: --brief --mime --mime-type --mime-encoding read*
date: -uR -d: -r: -I? --date: --utc --universal --iso-8601? --rfc-3339: /^\+/
less, more: -NSRFXiIMmeEnrGs# /\+(\d*G?|\/[\w]+!?)/ read*
man: -kfa text*
lsof: -tnPabUl -i? -p: -u: -c: text*
ss: -tulnpaxeimso46H text*
ip: -4 -6 -brief! -br! -o -s -c sub
ip addr, ip address, ip a, ip link, ip route, ip r, ip neigh: /^(show|list|ls)$/
jq: -rcnsejSMCRa --arg! --argjson! --slurpfile! --rawfile! --args --jsonargs --tab --indent:
  --raw-output --compact-output --null-input --slurp --exit-status --raw-input --sort-keys -f: -L:
  text*
yq: -rcPeM -o:/^(json|yaml|y|j|props|csv|tsv|xml)$/ text*
rg: -nilLwvcoFSsuUHNhIPxq0. -e: -g: -t: -T: -A: -B: -C: -m: -r: -M: -d: -f: -j: --files --hidden
  --no-ignore --glob: --type: --json --count --sort: --files-with-matches --no-heading --line-number
  --no-messages --fixed-strings --ignore-case --multiline --stats --trim --vimgrep --color:
  --max-depth: --heading read*
ag: -lLiwvcQsSau -A: -B: -C: -G: -m: --ignore: --nocolor --hidden text*
fd, fdfind: -HIsigFapLu0 -e: -t: -d: -E: --extension: --type: --hidden --no-ignore --max-depth:
  --exclude: --glob --absolute-path text*
eslint: package here --fix --ext: --quiet --max-warnings: -f:/^(stylish|json|compact|unix|html)$/
  --format:/^(stylish|json|compact|unix|html)$/ --cache -c:script --config:script --no-eslintrc
  --ignore-pattern: --report-unused-disable-directives write*
prettier: package -wcl --write --check --list-different --config:script --log-level: --ignore-path:
  --ignore-unknown --single-quote write*
tsc: package here -wbpv --noEmit --project: --watch --build --pretty? --strict --skipLibCheck
  --outDir:write --target: --module: --version --listFiles --init --jsx: --declaration
  --esModuleInterop --incremental? --noEmitOnError --force --moduleResolution: --lib: /^[^@]/*
jest: package here -iu -t: -w: -c:script --config:script --coverage --watch? --watchAll? --verbose
  --runInBand --ci --silent --bail? --testPathPattern: --testPathPatterns: --passWithNoTests
  --testNamePattern: --maxWorkers: --no-cache --no-coverage --updateSnapshot --listTests --forceExit
  --detectOpenHandles --json --findRelatedTests --selectProjects: text*
vitest: package here -tu --run --coverage --watch? --config:script
  --reporter:/^(default|verbose|dot|json|junit|basic|tap|html)$/ --testNamePattern:
  --passWithNoTests --bail? --project: text*
pytest: here -xqvsl -k: -m: -n: -r: -W: --tb: --maxfail: --lf --ff --co --collect-only --cov?
  --cov-report:/^(term|term-missing|html|xml|json)$/ --durations: --no-header --timeout:
  --junitxml:write --last-failed --exitfirst --stepwise --no-cov --disable-warnings --verbose
  --quiet script*
unittest: -vqfcb -k: -s:script -p: -t:script --verbose text*
json.tool: --indent: --sort-keys --compact --no-ensure-ascii --json-lines read write
venv, virtualenv: --clear --upgrade --system-site-packages --without-pip -p:/^(\/usr\/bin\/)?[\w.]+$/
  --python:/^(\/usr\/bin\/)?[\w.]+$/ write*
ruff: --version sub
ruff check, ruff format: here -qwe --fix --unsafe-fixes --select: --ignore: --output-format: --diff
  --check --quiet --statistics --no-cache --show-fixes write*
mypy: here --strict --ignore-missing-imports --no-error-summary --pretty --show-error-codes --version -p:
  -m: --python-version: --follow-imports: --install-types --non-interactive read*
black, isort, gofmt, rustfmt, flake8, pylint: -lsdqwv --check --diff --quiet --check-only --profile:
  --line-length: --edition: --max-line-length: --version -E --errors-only --disable: --select:
  --ignore: write*
tox: here -rvqpl -e: -s: --parallel? text*
rspec: here -fd! -f: -e: --format: --fail-fast script*
bundle, poetry, uv: --version -q --quiet sub
bundle exec, poetry run, uv run: command...
pip, pip3, uv pip: --version -qv --disable-pip-version-check sub
pip install, pip3 install, uv pip install: net here -qUv -e:name -r: -c: -t:write --target:write
  --prefix:write --root:write --upgrade --no-cache-dir --no-deps --pre --dry-run --quiet --no-input
  --break-system-packages --editable:name --requirement: --no-build-isolation --system name*
pip uninstall, pip3 uninstall: -yq --yes name*
pip list, pip show, pip freeze, pip check, pip3 list, pip3 show, uv pip list, uv pip show: -qv -o
  --outdated --format: --local -f --files text*
npm: net -s --silent --version -v --prefix:folder -C:folder --no-audit --no-fund --loglevel: sub
npm test, npm t, npm start: here -s --silent -w: --workspace: --workspaces --if-present text*
npm run, bun run: here -s --silent -w: --workspace: --workspaces --if-present name text...
npm init, yarn init: here -yw --yes
npm link, yarn link, pnpm link: net here write*
npm ci, npm pack, npm install, npm i, npm add, npm update, npm uninstall, npm rm, yarn install, yarn add, yarn
  remove, yarn upgrade, pnpm install, pnpm i, pnpm add, pnpm remove, pnpm update, bun install, bun
  add, bun remove: net here -DEOPSyWf --save-dev --save --save-exact --no-save --legacy-peer-deps
  --no-audit --no-fund --ignore-scripts --production --omit: --force --silent --prefer-offline
  --workspace: -w: --dry-run --dev --package-lock-only --frozen-lockfile --no-frozen-lockfile --yes
  --offline --no-optional --version --immutable --no-progress --loglevel: name*
npm ls, npm list, npm view, npm info, npm outdated, npm why, npm audit, yarn why, yarn
  list, yarn info, pnpm list, pnpm ls, pnpm why, pnpm outdated: here -a --all --depth: --json
  --omit: --production --long --prod --audit-level: --dry-run text*
npm exec, npm x, npx, pnpm exec, pnpm dlx, yarn exec, yarn dlx, bunx, pnpx, bun x: net -yq --yes
  --no --no-install --quiet -p:/^typescript(@[\w.^~-]+)?$/ --package:/^typescript(@[\w.^~-]+)?$/
  --bun packaged...
yarn test, yarn build, yarn lint, yarn start, yarn dev, pnpm test, pnpm t, pnpm build, pnpm lint,
  pnpm start, pnpm dev, bun test, deno test, deno lint, deno fmt, deno check: here -s --silent
  --watch? --coverage text*
yarn run, pnpm run: here -s --silent --if-present name text...
yarn: net here --version --frozen-lockfile --immutable -v sub
pnpm: net -rs -C:folder -F: --filter: --recursive --silent --version sub
bun, deno: net --version sub
make: here -kBnsiw -j? -l? -C:folder -f:script --file:script --makefile:script --directory:folder
  --no-print-directory --silent --always-make --keep-going --dry-run --jobs? --version setting*
ninja: here -vnk -C:folder -f:script -j: setting*
cmake: here -S:script -B:write -G: -D:setting -P:script --build:write -j? --parallel? --target:
  --config: --install:write --prefix:write --version -LAH script*
ctest: here -VNQ -j: -R: -E: -L: --output-on-failure --test-dir:script --verbose text*
gcc, g++, cc, clang, clang++: here -cESvs -o:write -x: --version -pthread! -shared! -static!
  /-O\w?|-g\d?|-W(?![pal],)[\w=-]*|-std=[\w+]+|-[ILlDU][^,]+|-M[MD]*|-pedantic|-ansi/
  /-f(PIC|pic|no-[\w-]+|sanitize=\w+|openmp|lto|exceptions|visibility=\w+)|-m(arch|tune)=[\w-]+|-m\d+/
  /^[^@]/*
go: -C:folder sub
go build, go test, go vet, go list, go install: <go> /^(?!.*@)/*
go run: <go> /^(?!.*\.\.)(\.(\/[\w./-]*)?|[\w-][\w./-]*\.go)$/ text...
go mod, go fmt, go version, go doc, go clean, go get, go generate, go work: here net -vxu -go:
  --json text*
go env: -json! text*
<go>: here net -v -x -race! -run: -count: -o:write -cover! -coverprofile:write -bench: -benchmem!
  -timeout: -tags: -short! -json! -p: -mod: -failfast! -parallel: -m -u -trimpath!
cargo: -qv --version --list sub
cargo build, cargo test, cargo clippy, cargo run, cargo check, cargo fmt, cargo bench, cargo doc,
  cargo add, cargo remove, cargo tree, cargo update, cargo clean, cargo metadata, cargo
  fix: net here -qvr -p: -F: -j: --release --all-targets --workspace --all
  --package: --features: --all-features --no-default-features --lib --bins --bin: --test: --example:
  --target: --no-run --locked --offline --tests --frozen --message-format: --check --no-deps --open
  --dev --quiet --allow-dirty --fix --no-fail-fast text*
cargo new, cargo init: here -q --lib --bin --name: --edition: write
mvn, gradle: here net -qBoU -pl: -P: -am! --offline --info --stacktrace --version --no-daemon
  --tests: /-D(skipTests|test|maven\.test\.skip)(=[\w.#*,]+)?/
  /^:?([\w-]+:)*(clean|compile|test|package|verify|install|validate|build|check|assemble|tasks|bootRun|tree)$/*
java: -version! --version -cp:script -classpath:script -jar:script /-Xm[sx]\w+/ /-D[\w.]+=[\w.:@-]*/
  script text...
javac: here -g -d:write -cp: -classpath: -Xlint! -source: -target: --release: /^[^@]/*
docker: --version -v sub
docker ps, docker images, docker logs, docker inspect, docker stats, docker top, docker version,
  docker pull, docker compose ps, docker compose logs, docker compose config: net -aqftnl --tail:
  --since: --format: --filter: --follow --all --quiet --no-stream --timestamps --no-trunc --services
  text*
docker start, docker stop, docker restart, docker compose stop, docker compose restart: name*
docker compose: -f:script --file:script -p: --project-name: --profile: sub
docker compose up, docker compose down, docker compose build, docker compose pull: net -dv --build
  --detach --force-recreate --remove-orphans --no-cache --wait --volumes --quiet-pull -q -f --tail:
  text*
docker build: net -q -t: -f:script --tag: --file:script --no-cache --pull --target: --build-arg:setting
  --platform: --progress: script
docker exec, docker compose exec: net -itdT -u: -w: -e:setting text text...
kubectl, terraform: --version -n: --namespace: --context: -chdir:folder sub
kubectl get, kubectl describe, kubectl logs, kubectl top, kubectl version: net -Awf -n:
  -o:/^(wide|name|json|yaml|jsonpath=.*)$/ -l: -c: --namespace: --all-namespaces --tail: --since:
  --previous --selector: /^(?!.*[sS][eE][cC][rR][eE][tT])[\w.,/@:-]+$/*
gh: --version sub
gh pr, gh issue, gh run, gh repo: net -R: --repo: sub
gh pr view, gh pr list, gh pr status, gh pr diff, gh pr checks, gh issue view, gh issue list, gh run
  view, gh run list, gh repo view: net -cL -R: -s: --repo: --json: --jq: -q: --state: --limit:
  --comments --log --log-failed text*
apt, apt-get, apt-cache, dpkg, rpm, yum, dnf, apk, brew: --version -l -L: -s: -qa! sub
apt update, apt upgrade, apt install, apt list, apt show, apt search, apt-get update, apt-get
  upgrade, apt-get install, apt-cache search, apt-cache show, apt-cache policy, yum install, dnf
  install, apk add, apk update, apk info, brew install, brew list, brew info, brew update, brew
  search: net -yqm --yes --no-install-recommends --no-cache --installed --update --quiet name*
systemctl: sub
systemctl status, systemctl list-units, systemctl is-active: -la --no-pager --all --type: text*
ping: net -qn46 -c: -W: -i: text
openssl: sub
openssl x509, openssl version, openssl verify: -in: -noout! -text! -subject! -issuer! -dates!
  -enddate! -a -fingerprint! -serial! -inform: -CAfile: read*
curl: net -sSLfkIivgGN46# -X: -H: -d: -o:write -O. -D:write -c:write -m: -u: -A: -b: -e: -x: -F: -T:
  -w:/^(?!@|[^]*%output)/ -r: --output:write --output-dir:write --create-dirs --max-time:
  --connect-timeout: --retry: --retry-delay: --data: --data-raw: --data-binary: --data-urlencode:
  --json: --header: --request: --fail --silent --show-error --location --head --include --compressed
  --http1.1 --http2 --insecure --url:url --user: --cacert: --write-out:/^(?!@|[^]*%output)/
  --no-buffer --get --verbose --no-progress-meter --progress-bar --dump-header:write
  --cookie-jar:write --cookie: --user-agent: --form: --remote-name. url*
wget: net here -qcNSv46 -O:write -P:write -o:write -T: -t: -U: --tries: --timeout: --header: --quiet
  --output-document:write --directory-prefix:write --show-progress -nv! -nc! --user-agent: --spider
  --no-verbose --post-data: --method: url*
ssh: net -qTxtv -o:ssh-setting -p: -l: -i: text text...
scp: net unpacks -rpqCv -P: -i: -o:ssh-setting read* target
rsync: net unpacks -avzrlptgoDhnPWHcuxAX0 -e:ssh-setting --delete --exclude: --include: --progress --dry-run
  --stats --partial --checksum --existing --ignore-existing --update --archive --verbose --compress
  --human-readable --exclude-from: --files-from: --info: -i read* target
touch: -acm -d: -t: -r: --date: --reference: --no-create write*
mkdir: -pv -m:/^[0-7]{3}$/ --parents --verbose write*
mkfifo: write*
mktemp: -dqut -p:write --directory --suffix: write
tee: -ai --append write*
truncate: -c -s: -r: --size: write*
chmod: -Rvcf --recursive --verbose /^(0?[0-7]{3}|[ugoa]*[+=][rwxX]+(,[ugoa]*[+=-][rwxX]+)*)$/ write*
chown, chgrp: -Rvhf --recursive /^[\w.:-]+$/ write*
rm: -rRfvdI --recursive --force --verbose --interactive? --one-file-system remove*
rmdir: -v --ignore-fail-on-non-empty remove*
unlink: remove
mv: -fnvuiT -t:write --force --no-clobber --verbose --target-directory:write remove*
cp: -rRafvpnLPHudTi -t:write --parents --preserve? --recursive --no-clobber --force --archive
  --update --target-directory:write --verbose --no-dereference read* write
install: -dDvpC -m:/^0?[0-7]{3}$/ -t:write --mode:/^0?[0-7]{3}$/ --directory write*
ln: -sfnvTr --symbolic --force --relative --no-dereference link*
dd: dd*
split: here -d -l: -b: -n: -a: --bytes: --lines: --numeric-suffixes? read write
patch: unpacks here -sNRfEu -p: -i: -d:write -o:write -r:write --dry-run --input: --strip: --forward
  --reverse --batch --binary write read
zip: -rqjyu# -x: --exclude: write read*
unzip: unpacks here -qonlvptju -d:write read text*
gzip, gunzip, bzip2, bunzip2, xz, unxz, zstd, unzstd: -dkfvqrtlc# --keep --force --stdout --best
  --fast --decompress remove*
tar -c: <tar> -f:write -C: --file:write --directory: read*
tar -t: <tar> -f: --file: text*
tar -x: <tar> unpacks here -f:/^[^:]+$/ -C:write --file:/^[^:]+$/ --directory:write --one-top-level:write text*
<tar>: -ctxvzjJakpmhO -X: --exclude: --exclude-vcs --strip-components: --gzip --xz --zstd --bzip2
  --verbose --wildcards --no-same-owner --no-same-permissions --numeric-owner --keep-old-files
pkill: -f /-(\d+|[A-Z]+)/ text
git: -pP -C:folder -c:git-setting --no-pager --version sub
git log, git diff, git show, git shortlog, git rev-list, git reflog: <history> text*
<history>: -pusnwbzRaciEFmqer# -U: -S: -G: -L: -n: -M? -C? -B? -O? --stat? --name-only --name-status
  --shortstat --numstat --oneline --cached --staged --graph --all --decorate? --format: --pretty?
  --author: --since: --until: --after: --before: --grep: --no-merges --merges --follow --reverse
  --abbrev-commit --abbrev? --color? --no-color --word-diff? --patch --no-patch --diff-filter:
  --max-count: --skip: --first-parent --ignore-all-space --ignore-space-change --ignore-blank-lines
  --no-renames --find-renames? --exit-code --quiet --check --unified: --summary --date: --branches?
  --tags? --remotes? --relative? --minimal --full-index --raw --left-right --merge-base --no-index
  --histogram --no-ext-diff --no-textconv --text --binary --no-decorate --count --left-only
  --right-only --cherry-pick --no-prefix --full-history --submodule?
git status, git rev-parse, git ls-files, git ls-tree, git ls-remote, git describe, git cat-file, git
  version, git merge-base, git show-ref, git for-each-ref, git check-ignore, git blame: net
  -sbvuotczrdmkpewlqht -L: -C? -M? -n: --short --porcelain? --branch --abbrev-ref --abbrev?
  --show-toplevel --others --modified --cached --deleted --exclude-standard --name-only --tags
  --always --dirty? --long --heads --exit-code --is-ancestor --verify --quiet --git-dir
  --is-inside-work-tree --show-current --untracked-files? --ignored? --format: --sort: --count:
  --show-prefix --stage --full-name --match: --error-unmatch --all --date: --no-optional-locks
  --symbolic-full-name text*
git grep: -nilLwvcoFEPhHpWqIz -e: -A: -B: -C: -m: --cached --untracked --and --or --not --count
  --heading --break --files-with-matches --line-number --ignore-case --fixed-strings text*
git add, git rm, git mv: here -AunfvrpkN --all --update --force --dry-run --cached --ignore-unmatch
  --patch --intent-to-add --verbose --quiet -q text*
git commit: here -aqvsnp -m:message -F: -C: --amend --no-edit --no-verify --allow-empty
  --author:message --date: --message:message --signoff --fixup: --all --quiet --file: --no-gpg-sign
  --only --allow-empty-message --reset-author --verbose text*
git checkout, git switch, git restore, git reset, git clean, git stash, git branch, git merge, git
  revert, git cherry-pick, git tag, git gc: here -qfptvaldxXenuSWkD# -b: -B: -c: -M: -m:message
  -s:/^(ort|recursive|ours|subtree|resolve)$/ --track --detach --ours --theirs --orphan: --hard
  --soft --mixed --keep --staged --worktree --source: --force --quiet --all --list --delete
  --remotes --show-current --merged? --no-merged? --contains? --set-upstream-to: --no-ff --ff-only
  --ff --squash --abort --continue --skip --no-edit --no-commit --message:message --strategy-option:
  --include-untracked --keep-index --strategy:/^(ort|recursive|ours|subtree|resolve)$/ --annotate
  --sort: --format: --merge --verbose --patch --create: --allow-unrelated-histories --no-verify
  --track? --no-track --dry-run --points-at: --auto text*
git rebase: here -qf --continue --abort --skip --onto: --autostash --quiet --no-verify --keep-empty
  --rebase-merges text*
git fetch, git pull, git push: net here -qfvtpanu --all --prune --tags --force --quiet --rebase?
  --no-rebase --ff-only --set-upstream --depth: --unshallow --force-with-lease? --delete --dry-run
  --no-verify --no-tags --autostash --follow-tags --verbose -d --no-edit --ff --no-ff
  --recurse-submodules? /^(?!.*::)[\w@][\w.:@/~^+*-]*$/*
git clone: net unpacks here -q -b: -o: --depth: --branch: --single-branch --recursive --quiet
  --recurse-submodules? --filter: --no-checkout --no-tags --shallow-submodules --bare --mirror
  --origin: /^(https?:\/\/|ssh:\/\/|git@|[./\w])(?!.*::)[\w.:@/~%+-]+$/ write
git init: here -q -b: --quiet --bare --initial-branch: write
git apply, git am: unpacks here -3vRq -p: --stat --check --3way --reverse --index --cached
  --whitespace: --abort --continue --skip --summary --numstat --verbose --recount read*
git config: here -l --local --get: --get-all: --get-regexp: --list --show-origin git-setting text
git remote: here -v sub
git remote add, git remote remove, git remote rename, git remote set-url, git remote show, git
  remote get-url, git remote prune, git remote rm, git remote update: net here -vpf --all --push
  /^(?!.*::)[\w@.][\w.:@/~%+-]*$/*
git worktree, git submodule: sub
git worktree add: here -fq -b: -B: --detach --force --quiet write text
git worktree list, git worktree prune, git worktree remove: here --porcelain -v --force -f write*
nc: net -zvnu46 -w: text text
crontab: -l
bundle install, poetry install, poetry add, poetry remove, poetry update, poetry show, poetry lock,
  uv add, uv remove, uv sync, uv lock: net here -q --quiet --no-root --with: --without: --frozen
  --locked --dev -D -G: --group: name*
terraform plan, terraform validate, terraform fmt, terraform init, terraform version, terraform
  output: net here -out:write -json! -check! -diff! -recursive! -no-color! -input=false! text*
git submodule update, git submodule init, git submodule status, git submodule sync: net here -q
  --init --recursive --remote --depth: --force --quiet text*
`
