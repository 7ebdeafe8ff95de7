# The bot for production: docker build -t slack-judge .
# docker run -d --restart always --stop-timeout 40 --env-file .env -v slack-judge:/data --read-only --tmpfs /tmp \
#   --cap-drop ALL --security-opt no-new-privileges --memory 1g --pids-limit 128 slack-judge
FROM python:3.13-slim
LABEL org.opencontainers.image.title="slack-judge" \
      org.opencontainers.image.description="Scores replies in Slack, right in the thread" \
      org.opencontainers.image.licenses="MIT"
# The app also runs here, where it cannot write: .env is read from here, and must not be planted for the next start.
WORKDIR /app
COPY tools/uv.txt tools/build.txt tools/
RUN pip install --no-cache-dir --require-hashes --requirement tools/uv.txt
COPY pyproject.toml uv.lock README.md LICENSE manifest.yml ./
COPY judge judge
COPY bot bot
# Compiled now, because the app's user cannot write here, and each health check would compile everything again.
ENV UV_COMPILE_BYTECODE=1 UV_NO_CACHE=1
# Those of pyproject.toml; parquet, with 50 MB more, is: docker build --build-arg EXTRAS="postgres oauth otel uvloop mcp parquet"
ARG EXTRAS="postgres oauth otel uvloop mcp"
RUN uv sync --frozen --no-dev --no-install-project $(printf -- '--extra %s ' $EXTRAS) \
    && uv build --wheel --build-constraints tools/build.txt --require-hashes --out-dir /tmp/wheel \
    && uv pip install --no-deps /tmp/wheel/*.whl && rm -r /tmp/wheel
RUN useradd --uid 1000 --create-home judge && install --directory --owner judge --group judge --mode 700 /data
USER judge
ENV PATH=/app/.venv/bin:$PATH LOG_FORMAT=json DATABASE_URL=sqlite+aiosqlite:////data/slack-judge.db
VOLUME /data
# On SIGTERM running cases get 30 s to finish; --stop-timeout above is longer than that.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=2 CMD ["judge-bot", "health"]
CMD ["judge-bot", "serve"]
