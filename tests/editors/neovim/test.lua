-- Writes a note in Neovim with `hd2v lsp` at work, by what Neovim 0.7 and later have: completion, hints as diagnostics,
-- code actions, hover, orphans.

local program, model, notes = vim.env.HD2V, vim.env.HD2V_MODEL, vim.env.HD2V_NOTES

local function fail(what)
  io.stderr:write('failed: ' .. what .. '\n')
  vim.cmd('cquit 1')
end

local function check(so, what)
  if not so then error(what, 0) end
end

--- Asks the server, as the functions of vim.lsp.buf do.
local function ask(method, params)
  local answers, err = vim.lsp.buf_request_sync(0, method, params, 20000)
  check(answers, method .. ': ' .. tostring(err))
  for _, answer in pairs(answers) do
    check(not answer.error, method .. ': ' .. vim.inspect(answer.error))
    return answer.result
  end
end

local function write(lines)
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
end

--- A client, started as the version of Neovim has it.
local function start(never)
  local settings = {
    name = 'hd2v',
    cmd = { program, 'lsp', model },
    root_dir = notes,
    init_options = { hints = 'diagnostics', minProbability = 0.3, neverLink = never },
  }
  if vim.lsp.start then return vim.lsp.start(settings) end
  local client = vim.lsp.start_client(settings)
  vim.lsp.buf_attach_client(0, client)
  return client
end

local function run()
  -- The cursor may stand behind the last character, as when somebody types.
  vim.o.virtualedit = 'onemore'
  local never = vim.fn.tempname()
  vim.cmd('edit ' .. vim.fn.fnameescape(notes .. '/draft-of-a-note.md'))
  vim.bo.filetype = 'markdown'
  write({ '# A draft', '', 'é: we compare with the baseline of the encoder and its perplexity.', '', 'The score [[', '' })
  local client = start(never)
  check(client, 'no client')
  local ready = vim.wait(30000, function()
    local it = vim.lsp.get_client_by_id(client)
    return it and it.initialized and it.server_capabilities ~= nil and vim.lsp.buf_is_attached(0, client)
  end, 20)
  check(ready, 'the server did not start')

  -- Completion where nothing is typed, and by what is typed.
  vim.api.nvim_win_set_cursor(0, { 5, 12 })
  local found = ask('textDocument/completion', vim.lsp.util.make_position_params(0))
  check(#found.items > 5 and found.isIncomplete, 'no completion by context')
  vim.api.nvim_buf_set_lines(0, 4, 5, false, { 'The score [[perplex' })
  vim.api.nvim_win_set_cursor(0, { 5, 19 })
  found = ask('textDocument/completion', vim.lsp.util.make_position_params(0))
  check(#found.items > 0, 'no completion by what is typed')
  local item = found.items[1]
  check(item.filterText == 'perplex' and item.label:lower():find('perplex', 1, true), vim.inspect(item))
  vim.lsp.util.apply_text_edits({ item.textEdit }, 0, 'utf-16')
  local line = vim.api.nvim_buf_get_lines(0, 4, 5, false)[1]
  check(line:lower():match('^the score %[%[.*perplex.*%]%]$'), line)

  -- By Neovim's own completion, <C-x><C-o>.
  vim.api.nvim_buf_set_lines(0, 4, 5, false, { 'The score [[' })
  vim.api.nvim_win_set_cursor(0, { 5, 12 })
  vim.bo.omnifunc = 'v:lua.vim.lsp.omnifunc'
  check(vim.lsp.omnifunc(1, '') ~= nil, 'no omnifunc')
  vim.api.nvim_buf_set_lines(0, 4, 5, false, { 'The score.' })

  -- Hints, as diagnostics that do not shout.
  local hints = {}
  vim.wait(60000, function()
    hints = vim.diagnostic.get(0)
    return #hints > 0
  end, 50)
  check(#hints > 0, 'no hints')
  local hint = hints[1]
  check(hint.severity == vim.diagnostic.severity.HINT and hint.source == 'hd2v', vim.inspect(hint))

  -- A code action puts the link in.
  local before = vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]
  vim.api.nvim_win_set_cursor(0, { hint.lnum + 1, hint.col })
  local params = vim.lsp.util.make_range_params(0)
  params.context = { diagnostics = {} }
  local actions = ask('textDocument/codeAction', params)
  check(#actions >= 2 and actions[1].title:find('link to', 1, true), vim.inspect(actions))
  vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
  local after = vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]
  check(#after > #before and after:find('](', 1, true), after)
  local open, close = after:find('%b[]%b()')
  local unlinked = after:sub(1, open - 1) .. after:sub(open, close):match('^%[(.-)%]') .. after:sub(close + 1)
  check(unlinked == before, 'nothing but the link has changed: ' .. after)
  -- What is linked is not suggested again.
  local gone = vim.wait(60000, function()
    for _, one in ipairs(vim.diagnostic.get(0)) do
      if one.message == hint.message then return false end
    end
    return true
  end, 50)
  check(gone, 'suggested again: ' .. hint.message)

  -- Hover tells what it leads to.
  vim.api.nvim_win_set_cursor(0, { 3, open })
  local hover = ask('textDocument/hover', vim.lsp.util.make_position_params(0))
  check(hover and hover.contents.value:find('linked to', 1, true), vim.inspect(hover))

  -- Never link this: the list is kept, and orphans are listed.
  local command = actions[2].command
  ask('workspace/executeCommand', { command = command.command, arguments = command.arguments })
  check(vim.fn.readfile(never)[1] == command.arguments[1], 'the list of what is never linked')
  local orphans = ask('workspace/executeCommand', { command = 'hd2v.orphans', arguments = {} })
  check(type(orphans) == 'table', vim.inspect(orphans))

  vim.lsp.stop_client(client)
  check(vim.wait(20000, function() return vim.lsp.get_client_by_id(client) == nil end, 50), 'the server did not end')
  local version = vim.version()
  io.stdout:write(('Neovim %d.%d.%d: completion, hints, code actions, hover, orphans\n'):format(version.major, version.minor, version.patch))
end

local ok, what = pcall(run)
if not ok then fail(tostring(what)) end
vim.cmd('qall!')
