#!/bin/sh
# What the tests need besides Python: a browser for the reports and a PostgreSQL server for the store.
# Without them (and without the right to install them) those tests fail and say so.
missing=""
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null && exit 0
fi
echo "tests: could not install:$missing; install them (Debian: apt-get install$missing), or their tests will fail" >&2
exit 0
