"""Neovim as Debian has it, with the settings of the guide for its release: it shows findings, hovers, and repairs."""

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.shell import ROOT
from tests.tools import tool

SOURCE = ROOT / "compose" / "scenarios" / "S08-single-listener-localhost" / "kraft.broken.yml"
REPAIRED = "PLAINTEXT://kafka:9092,EXTERNAL://localhost:9092"
SCRIPT = """
local function say(kind, text) io.stdout:write(kind .. "\\t" .. text:gsub("\\n", "\\\\n") .. "\\n") end
local function wait(condition) return vim.wait(60000, condition, 20) end
local ran, problem = pcall(function()
  vim.cmd("edit compose.yml")
  local client = vim.lsp.start_client({ name = "netdiag", cmd = COMMAND, root_dir = vim.fn.getcwd() })
  vim.lsp.buf_attach_client(0, client)
  wait(function() return #vim.diagnostic.get(0) > 0 end)
  local found = vim.diagnostic.get(0)[1]
  say("finding", found.message)
  say("text", vim.api.nvim_get_current_line and
    vim.api.nvim_buf_get_lines(0, found.lnum, found.lnum + 1, false)[1]:sub(found.col + 1, found.end_col))
  vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col })
  local where = vim.lsp.util.make_position_params()
  for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", where, 60000)) do
    say("hover", table.concat(vim.lsp.util.convert_input_to_markdown_lines(answer.result.contents), "\\n"))
  end
  local range = vim.lsp.util.make_range_params()
  range.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics() }
  for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/codeAction", range, 60000)) do
    say("action", answer.result[1].title)
    vim.lsp.util.apply_workspace_edit(answer.result[1].edit, "utf-16")
  end
  wait(function() return #vim.diagnostic.get(0) == 0 end)
  say("left", tostring(#vim.diagnostic.get(0)))
  vim.cmd("silent write")
end)
if not ran then say("problem", tostring(problem)) end
vim.cmd("qa!")
"""


def test_neovim_shows_findings_and_hovers_and_applies_a_repair(tmp_path: Path) -> None:
    document = tmp_path / "compose.yml"
    document.write_bytes(SOURCE.read_bytes())
    command = [sys.executable, "-m", "netdiag", "lsp"]
    words = ", ".join(f'"{word}"' for word in command)
    (tmp_path / "script.lua").write_text(SCRIPT.replace("COMMAND", f"{{ {words} }}"))
    homes = {name: str(tmp_path / name) for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    done = subprocess.run(
        [tool("nvim"), "--headless", "-u", "NONE", "-i", "NONE", "-c", "luafile script.lua"],
        cwd=tmp_path,
        env={**os.environ, **homes},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    told = dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)
    assert "problem" not in told, told["problem"]
    assert told["finding"].startswith("listener PLAINTEXT of kafka sends every container to")
    assert told["text"] == "localhost"
    assert "✓ docker host: broker 1 answers on PLAINTEXT" in told["hover"]
    assert told["action"].startswith("Advertise PLAINTEXT://kafka:9092 for containers")
    assert told["left"] == "0"
    assert f"KAFKA_ADVERTISED_LISTENERS: {REPAIRED}" in document.read_text()
