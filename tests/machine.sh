#!/bin/sh
# What the tests need besides Python packages: a browser for the reports, a PostgreSQL server for the store and a Java runtime for Spark.
# `machine.sh python [PYTHON]` asks for what a virtual environment needs instead: Debian's Python comes without it.
# Root on Debian installs what is missing; anybody else is told what to install.
missing=""
if [ "$1" = python ]; then
  "${2:-python3}" -c "import ensurepip" 2>/dev/null || missing=" python3-venv"
else
  # Playwright's driver is a program that needs libatomic, and brings none.
  ls /usr/lib/*/libatomic.so.1 /usr/lib*/libatomic.so.1 2>/dev/null | grep -q . || missing="$missing libatomic1"
  command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
  command -v java >/dev/null 2>&1 || [ -x "$JAVA_HOME/bin/java" ] || missing="$missing default-jre-headless"
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 || missing="$missing postgresql"
fi
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing:$missing"
  log=$(mktemp)
  if { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing; } >"$log" 2>&1; then
    rm -f "$log"
    exit 0
  fi
  tail -n 20 "$log" >&2
fi
echo "could not install:$missing (Debian: apt-get install$missing)" >&2
[ "$1" = python ] && exit 1
echo "the tests that need them will fail" >&2
exit 0
