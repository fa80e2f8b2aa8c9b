cat <<'EOF' > x
$(ls)
EOF
find . -name '*.o' -exec rm {} \; ; python3 -c 'import json; print(1)' 2>&1 | tail -5