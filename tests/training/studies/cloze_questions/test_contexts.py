from training.studies.cloze_questions.contexts import split_document


def test_contexts_end_with_the_sentence_that_reaches_their_length():
    sentence = "One two three\n four five six seven. "
    contexts = split_document(sentence * 7, context_words=20)
    assert [len(context.sentences) for context in contexts] == [3, 3]
    assert contexts[0].text == " ".join(["One two three four five six seven."] * 3)
    for context in contexts:
        for words in context.sentences:
            assert [context.text[word.start : word.end] for word in words] == [word.text for word in words]
            assert [word.text for word in words] == "One two three four five six seven".split()


def test_short_end_of_document_is_left_out():
    assert len(split_document("One two three four. " * 5, context_words=20)) == 1
    assert len(split_document("One two three four. " * 8, context_words=20)) == 2
    assert len(split_document("One two three four. " * 7, context_words=20)) == 1
    assert split_document("One two three.", context_words=20) == []
    assert split_document(" \n", context_words=20) == []
